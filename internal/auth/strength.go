package auth

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/headgate/headgate/internal/model"
)

// Bounds of what a new password must have of its own, beside its length.
const (
	leastDifferent = 5  // different characters
	leastSteps     = 6  // characters that do not just go on with a sequence
	leastBeside    = 8  // characters beside the user's own name
	leastPart      = 12 // characters of a part that may be repeated
	mostAround     = 8  // characters before and after a common password that make it no better
)

// CheckPassword refuses a new password that is easily guessed: too short, the name or the display name of its user with
// a little around it, a repetition, a sequence, or one of the common ones, also with other case, digits for letters and
// a tail. CodeInvalid with field "password" and the rule that it breaks.
func CheckPassword(password string, names ...string) error {
	if err := model.ValidatePassword(password); err != nil {
		return err
	}
	lower := strings.ToLower(password)
	var rule string
	switch {
	case different(lower) < leastDifferent:
		rule = "must have at least 5 different characters"
	case isRepetition(lower):
		rule = "must not be one part repeated"
	case steps(lower) < leastSteps:
		rule = "must not be a sequence such as 123456 or qwerty"
	case isAbout(lower, names):
		rule = "must have at least 8 characters beside the user's name"
	case isCommon(lower):
		rule = "must not be one of the most common passwords, nor one with a few characters around it; several words that do not belong together are good"
	default:
		return nil
	}
	return &model.Error{
		Code: model.CodeInvalid, Message: "the password is too easy to guess",
		Fields: []model.FieldError{model.Broken("password", "%s", rule)},
	}
}

func different(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// isRepetition tells whether s is a short part again and again.
func isRepetition(s string) bool {
	runes := []rune(s)
	for part := 1; part <= len(runes)/2 && part < leastPart; part++ {
		same := true
		for i := part; i < len(runes) && same; i++ {
			same = runes[i] == runes[i-part]
		}
		if same {
			return true
		}
	}
	return false
}

// rows are orders that fingers follow.
var rows = []string{"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "azertyuiop", "qazwsxedcrfvtgbyhnujm", "1qaz2wsx3edc4rfv5tgb"}

// steps counts the characters that do not go on with the same step as the two before: 2 for abcdef or 98765.
func steps(s string) int {
	count, last := 0, notAStep
	var before rune
	for i, r := range s {
		step := notAStep
		if i > 0 {
			step = stepOf(before, r)
		}
		if step == notAStep || step != last {
			count++
		}
		before, last = r, step
	}
	return count
}

const notAStep = 2

// stepOf is 1 or -1 for neighbours in the alphabet or on the keyboard, 0 for the same character.
func stepOf(a, b rune) int {
	if d := int(b) - int(a); d >= -1 && d <= 1 {
		return d
	}
	for _, row := range rows {
		i, j := strings.IndexRune(row, a), strings.IndexRune(row, b)
		if i >= 0 && j >= 0 && (j-i == 1 || j-i == -1) {
			return j - i
		}
	}
	return notAStep
}

// isAbout tells whether little is left of s without the names.
func isAbout(s string, names []string) bool {
	for _, name := range names {
		local, _, _ := strings.Cut(strings.ToLower(name), "@")
		for _, n := range append(strings.Fields(strings.ToLower(name)), local) {
			if utf8.RuneCountInString(n) >= 3 && strings.Contains(s, n) &&
				utf8.RuneCountInString(strings.ReplaceAll(s, n, "")) < leastBeside {
				return true
			}
		}
	}
	return false
}

//go:embed common_passwords.txt
var commonText string

var commonPasswords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(commonText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			set[line] = true
		}
	}
	return set
})

// leet undoes the digits and signs that people put in the place of letters.
var leet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "@", "a", "$", "s", "!", "i", "+", "t")

// isCommon looks s up, and what stands in it between digits and signs, plainly and with letters for digits.
func isCommon(s string) bool {
	set := commonPasswords()
	candidates := []string{s, lettersAndDigits(s)}
	core := strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	// The end of pa$$w0rd! may be a letter too, so signs are left in one more try.
	tail := strings.TrimFunc(s, unicode.IsDigit)
	for _, c := range []string{core, tail} {
		if utf8.RuneCountInString(s)-utf8.RuneCountInString(c) <= mostAround {
			candidates = append(candidates, c, lettersAndDigits(c))
		}
	}
	for _, c := range candidates {
		if set[c] || set[leet.Replace(c)] || set[lettersAndDigits(leet.Replace(c))] {
			return true
		}
	}
	return false
}

func lettersAndDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
