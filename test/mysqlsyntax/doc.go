// Package mysqlsyntax has the SQL of Headgate read by a parser of MySQL 8's language, TiDB's, because the tests run on
// MariaDB where that is what the machine has. It is a module of its own, so that the parser stays out of Headgate's
// go.mod.
package mysqlsyntax
