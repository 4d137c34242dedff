package web

// NewHandler lets the tests hand in a console of their own.
var NewHandler = newHandler
