package api

import (
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/model"
)

const (
	requiredMessage = "is required"
	notValid        = "is not valid"
)

// huma and gin are set up through package variables, so this must happen once and before anything is built.
func init() {
	gin.SetMode(gin.ReleaseMode)
	huma.DefaultArrayNullable = false // our lists are never null
	huma.ValidateStrictCasing = true  // "Max_Permits" is not max_permits
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return humaProblem(nil, status, message, errs...)
	}
	huma.NewErrorWithContext = humaProblem

	validation.MsgUnexpectedProperty = "is not a known field"
	validation.MsgExpectedRequiredProperty = requiredMessage + ": %s"
	validation.MsgExpectedInteger = "must be a whole number of at most 18 digits, without fraction or exponent"
	validation.MsgExpectedString = "must be a text"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedArray = "must be a list"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedMinLength = "must be at least %d characters"
	validation.MsgExpectedMaxLength = "must be at most %d characters"
}

// humaProblem turns what huma finds wrong with a request into our form of answer.
func humaProblem(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	code := codeOf(status)
	detail := "the request is not valid"
	switch {
	case status == http.StatusRequestEntityTooLarge:
		detail = bodyTooLarge
	case status == http.StatusRequestTimeout:
		detail = "the body did not arrive in time"
	case message == "cannot read request body": // huma calls it a 500, but it is the client that broke off
		code, detail, errs = codeMalformed, "the body could not be read", nil
	case status >= http.StatusInternalServerError:
		code, detail, errs = model.CodeInternal, internalDetail, nil
	case message == "request body is required":
		errs = []error{&huma.ErrorDetail{Location: "body", Message: requiredMessage}}
	}
	fields := make([]model.FieldError, 0, len(errs))
	for _, err := range errs {
		fields = append(fields, fieldOf(err))
	}
	if ctx == nil {
		return newProblem(noContext, code, detail, fields...)
	}
	return newProblem(ctx.Context(), code, detail, fields...)
}

// fieldOf names the field as the client knows it and the rule that it breaks.
func fieldOf(err error) model.FieldError {
	var detailer huma.ErrorDetailer
	if !errors.As(err, &detailer) {
		return model.Broken("body", notValid)
	}
	detail := detailer.ErrorDetail()
	field := detail.Location
	for _, place := range []string{"body.", "query.", "path.", "header."} {
		if rest, ok := strings.CutPrefix(field, place); ok {
			field = rest
			break
		}
	}
	if name, ok := strings.CutPrefix(detail.Message, requiredMessage+": "); ok {
		if field == "body" {
			return model.Broken(name, requiredMessage)
		}
		return model.Broken(field+"."+name, requiredMessage)
	}
	return model.BrokenAs(field, rule(detail.Message))
}

// rule keeps our own words and replaces those that huma does not let us choose.
func rule(message string) string {
	switch {
	case strings.HasPrefix(message, "must "), strings.HasPrefix(message, "is "):
		return message
	case strings.HasPrefix(message, "required "):
		return requiredMessage
	case message == "unknown query parameter":
		return "is not a known parameter"
	case message == "invalid integer":
		return "must be a whole number"
	case message == "invalid boolean":
		return "must be true or false"
	case strings.HasPrefix(message, "invalid date/time"):
		return "must be a time like 2006-01-02T15:04:05Z"
	case strings.HasPrefix(message, huma.ErrUnknownContentType.Error()):
		return "must be declared as application/json"
	}
	return notValid
}

// clip bounds a text of the client's in an answer and keeps it valid UTF-8.
func clip(s string) string {
	if len(s) <= fieldBytes {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	cut := s[:fieldBytes]
	for len(cut) > 0 && !utf8.ValidString(cut[max(0, len(cut)-utf8.UTFMax):]) {
		cut = cut[:len(cut)-1]
	}
	return strings.ToValidUTF8(cut, "\uFFFD") + "…"
}
