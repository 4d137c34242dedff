// Package audit is what makes the history evident of tampering: the encoding of a change row and the chain of hashes
// over all rows, signed checkpoints of it, the search for the first row that is not as it was written, the forms in
// which the history leaves the database, and the folding of floods of refusals into few rows. It touches no database;
// docs/audit.md describes all of it for readers without this code.
package audit
