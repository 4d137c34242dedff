// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import { chartOptions, palette } from './chart-options';

const here = process.env.TZ;
afterEach(() => {
  if (here === undefined) delete process.env.TZ;
  else process.env.TZ = here;
});

const options = (zone: 'UTC' | 'local') =>
  chartOptions({ width: 1, height: 1, language: 'en', zone, colors: palette.light, seconds: 86_400, zoom: () => null, markers: () => [], onZoom: vi.fn(), onPoint: vi.fn() });

test.each(['Asia/Kolkata', 'America/New_York'])('the marks of the axis stand at full hours and days of the zone that was chosen, in %s', (place) => {
  process.env.TZ = place;
  for (const at of ['2026-03-08T00:00:00Z', '2026-03-08T12:00:00Z', '2026-07-01T00:00:00Z', '2026-11-01T18:00:00Z']) {
    const shown = options('UTC').tzDate?.(Date.parse(at) / 1000);
    expect([shown?.getMonth(), shown?.getDate(), shown?.getHours(), shown?.getMinutes()]).toEqual([
      new Date(at).getUTCMonth(), new Date(at).getUTCDate(), new Date(at).getUTCHours(), 0,
    ]);
  }
  expect(options('local').tzDate).toBeUndefined(); // uPlot takes the browser's own
});
