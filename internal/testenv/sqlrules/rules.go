// Package sqlrules tells which SQL not all of the databases understand that Headgate supports: MySQL 8.0 and 8.4, and
// MariaDB from 10.6 on. Tests hold every statement that they see on its way to the database against it, so that one
// which works on the server at hand alone is found there.
package sqlrules

import (
	"fmt"
	"regexp"
	"strings"
)

// rule is a piece of syntax, and who does not have it, or has it otherwise.
type rule struct {
	pattern *regexp.Regexp
	why     string
}

func deny(pattern, why string) rule { return rule{regexp.MustCompile(`(?is)` + pattern), why} }

var rules = []rule{
	deny(`\bRETURNING\b`, "MySQL has no RETURNING"),
	deny(`\bVALUES\s*\([^;]*\)\s*AS\s+\w+`, "MariaDB has no alias of the inserted row"),
	deny(`\bFOR\s+SHARE\b`, "MariaDB has no FOR SHARE; LOCK IN SHARE MODE is known to both"),
	deny(`\bFOR\s+UPDATE\s+OF\b`, "MariaDB locks all tables of a FOR UPDATE"),
	deny(`\bLATERAL\b`, "MariaDB has no LATERAL"),
	deny(`\bJSON_(TABLE|VALUE|ARRAYAGG|OBJECTAGG|SCHEMA_VALID|OVERLAPS|DETAILED|EQUALS|QUERY)\b`, "the two read it differently, or one lacks it"),
	deny(`->`, "MariaDB has no -> and ->>"),
	deny(`\bMEMBER\s+OF\b`, "MariaDB has no MEMBER OF"),
	deny(`\b(NEXTVAL|LASTVAL|SETVAL)\s*\(|\bNEXT\s+VALUE\s+FOR\b|\b(CREATE|ALTER|DROP)\s+SEQUENCE\b`, "MySQL has no sequences"),
	deny(`\bCREATE\s+OR\s+REPLACE\b`, "MySQL replaces views alone"),
	deny(`\b(ADD|DROP|MODIFY|CHANGE)\s+(COLUMN|INDEX|KEY|FOREIGN\s+KEY|CONSTRAINT)\s+IF\b`, "MySQL has no IF [NOT] EXISTS inside ALTER TABLE"),
	deny(`\bINDEX\s+IF\b|\bALTER\s+TABLE\s+IF\b`, "MySQL has no IF [NOT] EXISTS there"),
	deny(`\bCREATE\s+(TRIGGER|PROCEDURE|FUNCTION)\s+IF\b`, "MySQL has it from 8.0.29 on"),
	deny(`\b(CREATE|ALTER)\b.*\s(UUID|INET4|INET6|VECTOR|XMLTYPE)\b`, "one of the two has no such type"),
	deny(`\b(KEY|INDEX)\s+\w*\s*\(\s*\(`, "MariaDB has no indexes of expressions"),
	deny(`\bGENERATED\b|\bAS\s*\([^)]*\)\s*(STORED|VIRTUAL|PERSISTENT)\b`, "attributes of generated columns differ"),
	deny(`\b(INVISIBLE|IGNORED|WITHOUT\s+OVERLAPS|SYSTEM\s+VERSIONING|SYSTEM_TIME)\b`, "one of the two lacks it"),
	deny(`\b(BLOB|TEXT|JSON)\s+(NOT\s+NULL\s+)?DEFAULT\s+[^(N]`, "MySQL takes no literal as default of such a column"),
	deny(`\bDEFAULT\s*\(`, "expressions as defaults differ"),
	deny(`\butf8mb4_(0900|uca1400)_\w+`, "one of the two lacks this collation"),
	deny(`\b(REGEXP|RLIKE|REGEXP_\w+)\b`, "regular expressions differ (ICU, PCRE)"),
	deny(`\b(INTERSECT|EXCEPT|MINUS)\b`, "MySQL has it from 8.0.31 on"),
	deny(`\b(ANY_VALUE|GROUPING|UUID_TO_BIN|BIN_TO_UUID|IS_UUID|UUID_SHORT|SYS_GUID|NATURAL_SORT_KEY)\s*\(`, "one of the two lacks it"),
	deny(`\bMAX_EXECUTION_TIME\b|\bmax_statement_time\b|\bSET\s+STATEMENT\b|\bSET\s+PERSIST`, "one of the two lacks it"),
	deny(`\bEXECUTE\s+IMMEDIATE\b|\bBEGIN\s+NOT\s+ATOMIC\b`, "MySQL lacks it"),
	deny(`\bALGORITHM\s*=\s*NOCOPY\b`, "MySQL has no NOCOPY"),
	deny(`\b(LIMIT\s+ROWS\s+EXAMINED|FETCH\s+(FIRST|NEXT))\b`, "MySQL lacks it"),
	deny(`\|\|`, "it joins texts in one sql_mode and is OR in another"),
	deny(`"`, "quotes of this kind are a text in one sql_mode and a name in another"),
	deny(`\b(MASTER|SLAVE)\b`, "MySQL 8.4 has it no more"),
}

// Check returns an error that says which part of a statement is not understood everywhere. What stands in texts and in
// comments does not count, except where a text is itself a statement to be prepared: SET @x = 'ALTER TABLE …'.
func Check(statement string) error {
	bare, texts := strip(statement)
	for _, r := range rules {
		if found := r.pattern.FindString(bare); found != "" {
			return fmt.Errorf("%s: %.60q in %.300q", r.why, found, statement)
		}
	}
	if !setsVariable.MatchString(bare) {
		return nil
	}
	for _, text := range texts {
		if isStatement.MatchString(text) {
			if err := Check(text); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	setsVariable = regexp.MustCompile(`(?is)^\s*SET\s+@\w+\s*=`)
	isStatement  = regexp.MustCompile(`(?is)^\s*(ALTER|CREATE|DROP|INSERT|UPDATE|DELETE)\s`)
	pieces       = regexp.MustCompile("(?s)'(?:[^'\\\\]|\\\\.|'')*'|`[^`]*`|/\\*.*?\\*/|(?:--\\s|#)[^\\n]*")
)

// strip replaces texts by ” and quoted names by x, removes comments, and returns the texts beside.
func strip(statement string) (bare string, texts []string) {
	bare = pieces.ReplaceAllStringFunc(statement, func(piece string) string {
		switch piece[0] {
		case '\'':
			texts = append(texts, strings.ReplaceAll(piece[1:len(piece)-1], "''", "'"))
			return "''"
		case '`':
			return "x"
		}
		return " "
	})
	return bare, texts
}

// Normalize is a statement with 1 for each number, 'x' for each text and one value for each list of them, in one line: the
// same for each time that it is sent, and still a statement.
func Normalize(statement string) string {
	bare := pieces.ReplaceAllStringFunc(statement, func(piece string) string {
		switch piece[0] {
		case '\'':
			return "'x'"
		case '`':
			return piece
		}
		return " "
	})
	bare = strings.ReplaceAll(number.ReplaceAllString(bare, "1"), "_binary'x'", "'x'")
	bare = list.ReplaceAllString(strings.Join(strings.Fields(bare), " "), "$1")
	return rows.ReplaceAllString(bare, "$1")
}

var (
	number = regexp.MustCompile(`\b\d+(\.\d+)?\b`)
	list   = regexp.MustCompile(`(1|'x')(?:\s*,\s*(?:1|'x'|NULL))+`)
	rows   = regexp.MustCompile(`(\((?:1|'x')\))(?:\s*,\s*\((?:1|'x')\))+`)
)
