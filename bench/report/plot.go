package report

import (
	"fmt"
	"html"
	"io"
	"math"

	"github.com/headgate/headgate/bench/peers"
	"github.com/headgate/headgate/bench/suite"
)

// plot is a chart of one figure of all contenders in ratio to redis_rate's: a bar for each, on a logarithmic axis,
// workload under workload. Colours follow the reader's light or dark setting, and every bar is labelled, so none is
// needed to tell them apart.
type plot struct {
	title  string
	better string // which direction is better
	figure func(*suite.ContenderResult) []float64
}

var (
	ratePlot = plot{"Decisions per second, in ratio to redis_rate", "further right is better", suite.Rates}
	p99Plot  = plot{"99th percentile of the latency, in ratio to redis_rate", "further left is better", suite.P99s}
)

// Lengths in px.
const (
	plotWidth   = 860
	plotMargin  = 16
	plotHeader  = 66
	labelWidth  = 150 // kept free right of the longest bar for its label
	barHeight   = 11
	barStep     = 15
	groupHeader = 22
	groupGap    = 10
)

const plotStyle = `<style>
  svg { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 11px; }
  .ink { fill: #1f2933; } .soft { fill: #5b6673; } .grid { stroke: #d8dee6; } .one { stroke: #5b6673; }
  .ours { fill: #0f766e; } .peer { fill: #8a9bb4; } .bare { fill: #c3cad3; } .strong { font-weight: 600; }
  .title { font-size: 15px; font-weight: 600; } .back { fill: #ffffff; }
  .halo { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
  @media (prefers-color-scheme: dark) {
    .ink { fill: #e6edf3; } .soft { fill: #9aa7b4; } .grid { stroke: #2d3640; } .one { stroke: #9aa7b4; }
    .ours { fill: #2dd4bf; } .peer { fill: #6b7f9c; } .bare { fill: #47525e; } .back { fill: #0d1117; }
    .halo { stroke: #0d1117; }
  }
</style>
`

// group is a workload's bars.
type group struct {
	title string
	bars  []ratioBar
}

type ratioBar struct {
	name  string
	ratio float64
}

// add appends a bar; Headgate's comes first.
func (g *group) add(b ratioBar) {
	if b.name == peers.Headgate {
		g.bars = append([]ratioBar{b}, g.bars...)
		return
	}
	g.bars = append(g.bars, b)
}

func (p plot) groups(r *suite.Result) []group {
	var all []group
	for i := range r.Workloads {
		w := &r.Workloads[i]
		var base *suite.ContenderResult
		for j := range w.Contenders {
			if w.Contenders[j].Name == peers.RedisRate {
				base = &w.Contenders[j]
			}
		}
		g := group{title: w.Title}
		for j := range w.Contenders {
			c := &w.Contenders[j]
			if ratio := suite.Ratio(c, base, p.figure); c.Name != peers.RedisRate && !math.IsNaN(ratio) && ratio > 0 {
				g.add(ratioBar{c.Name, ratio})
			}
		}
		if len(g.bars) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// axis maps ratios to px; it spans whole decades. Bars beyond its ends are cut there, so that a contender that broke down
// does not squeeze the others; their labels tell the figure.
type axis struct{ low, high int }

const lowest, highest = -2, 3 // decades

func newAxis(groups []group) axis {
	a := axis{-1, 1}
	for _, g := range groups {
		for _, b := range g.bars {
			decade := math.Log10(b.ratio)
			a.low, a.high = min(a.low, int(math.Floor(decade))), max(a.high, int(math.Ceil(decade)))
		}
	}
	return axis{max(a.low, lowest), min(a.high, highest)}
}

func (a axis) x(ratio float64) float64 {
	const width = plotWidth - 2*plotMargin - labelWidth
	decade := min(max(math.Log10(ratio), float64(a.low)), float64(a.high))
	return plotMargin + width*(decade-float64(a.low))/float64(a.high-a.low)
}

// write draws the chart as SVG. It writes nothing that can't be drawn: without a group there is a title alone.
func (p plot) write(w io.Writer, r *suite.Result) error {
	groups := p.groups(r)
	a := newAxis(groups)
	height := plotHeader + plotMargin
	for _, g := range groups {
		height += groupHeader + len(g.bars)*barStep + groupGap
	}
	t := &text{w: w}
	t.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n",
		plotWidth, height, plotWidth, height, p.title)
	t.printf("%s<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n", plotStyle)
	t.printf("<text class=\"ink title\" x=\"%d\" y=\"24\">%s</text>\n", plotMargin, p.title)
	t.printf("<text class=\"soft\" x=\"%d\" y=\"41\">redis_rate is the line at 1; logarithmic axis, bars end at its ends; %s</text>\n", plotMargin, p.better)
	for decade := a.low; decade <= a.high; decade++ {
		x, class := a.x(math.Pow10(decade)), "grid"
		if decade == 0 {
			class = "one"
		}
		t.printf("<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", class, x, x, plotHeader-2, height-plotMargin)
		t.printf("<text class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, plotHeader-6, decadeLabel(decade))
	}
	y := plotHeader
	for _, g := range groups {
		t.printf("<text class=\"ink strong halo\" x=\"%d\" y=\"%d\">%s</text>\n", plotMargin, y+groupHeader-7, html.EscapeString(g.title))
		y += groupHeader
		for _, b := range g.bars {
			t.bar(a, b, y)
			y += barStep
		}
		y += groupGap
	}
	t.printf("</svg>\n")
	return t.err
}

// bar draws from the line at 1; its label stands right of it, or of the line for a bar that goes left.
func (t *text) bar(a axis, b ratioBar, y int) {
	one, end := a.x(1), a.x(b.ratio)
	class, weight := "peer", ""
	switch b.name {
	case peers.Headgate:
		class, weight = "ours", " strong"
	case peers.Incr, peers.NoOp:
		class = "bare"
	}
	from, to := min(one, end), max(one, end)
	t.printf("<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"1.5\"/>\n", class, from, y, max(to-from, 1), barHeight)
	t.printf("<text class=\"ink%s\" x=\"%.1f\" y=\"%d\">%s %s×</text>\n", weight, to+5, y+barHeight-2, html.EscapeString(b.name), number(b.ratio))
}

func decadeLabel(decade int) string {
	if decade >= 0 {
		return thousands(math.Pow10(decade))
	}
	return fmt.Sprintf("%.*f", -decade, math.Pow10(decade))
}
