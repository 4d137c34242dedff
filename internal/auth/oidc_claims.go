package auth

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/headgate/headgate/internal/model"
)

// person is who the provider says has logged in.
type person struct {
	Subject     string
	Name        string // as a user name, lower case; it may be none
	DisplayName string
	Groups      []string
}

// groupsMost bounds the groups that are read of one person.
const groupsMost = 10_000

// describe reads a person's claims: from the ID token, and from the provider's userinfo what is missing there.
func (o *OIDC) describe(ctx context.Context, p *provider, token *oidc.IDToken, tokens *oauth2.Token) (person, *SignOnError) {
	claims := map[string]json.RawMessage{}
	if err := token.Claims(&claims); err != nil {
		return person{}, fault(FaultFailed, err, "the ID token can't be read")
	}
	_, named := claims[o.UsernameClaim]
	_, grouped := claims[o.GroupsClaim]
	if p.userinfo && (!named || !grouped && o.maps()) {
		more, refused := moreClaims(ctx, p, token.Subject, tokens)
		if refused != nil {
			return person{}, refused
		}
		for name, value := range more {
			if _, known := claims[name]; !known {
				claims[name] = value
			}
		}
	}
	who := person{Subject: token.Subject, DisplayName: cleanName(textClaim(claims["name"]))}
	who.Name = strings.ToLower(strings.TrimSpace(textClaim(claims[o.UsernameClaim])))
	if o.UsernameClaim == "email" && string(claims["email_verified"]) == "false" {
		return person{}, fault(FaultName, nil, "the provider has not verified the mail address of subject %.255q", token.Subject)
	}
	var refused *SignOnError
	if o.maps() {
		who.Groups, refused = o.groupsOf(claims)
	}
	return who, refused
}

func moreClaims(ctx context.Context, p *provider, subject string, tokens *oauth2.Token) (map[string]json.RawMessage, *SignOnError) {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, fault(FaultUnavailable, err, "the provider does not say more about the person")
	}
	if info.Subject != subject {
		return nil, fault(FaultFailed, nil, "the provider tells of another person than the one who logged in")
	}
	claims := map[string]json.RawMessage{}
	if err := info.Claims(&claims); err != nil {
		return nil, fault(FaultFailed, err, "what the provider says about the person can't be read")
	}
	return claims, nil
}

// groupsOf reads the groups: a list of texts, or one. None at all is no fault, for several providers leave an empty
// list out. A list that the provider holds elsewhere because it is too long is one: reading it as empty would take
// away what the groups gave.
func (o *OIDC) groupsOf(claims map[string]json.RawMessage) ([]string, *SignOnError) {
	raw, ok := claims[o.GroupsClaim]
	if !ok || string(raw) == "null" {
		var elsewhere map[string]json.RawMessage
		if json.Unmarshal(claims["_claim_names"], &elsewhere) == nil && elsewhere[o.GroupsClaim] != nil {
			return nil, fault(FaultFailed, nil, "the provider leaves the groups out because they are too many; let it send only those of this application")
		}
		return nil, nil
	}
	var groups []string
	if err := json.Unmarshal(raw, &groups); err != nil {
		one := textClaim(raw)
		if one == "" {
			return nil, fault(FaultFailed, err, "the claim %s is no list of groups", o.GroupsClaim)
		}
		groups = []string{one}
	}
	if len(groups) > groupsMost {
		return nil, fault(FaultFailed, nil, "the person is in %d groups, more than %d", len(groups), groupsMost)
	}
	return groups, nil
}

// maps tells whether groups matter at all.
func (o *OIDC) maps() bool { return len(o.Roles) > 0 || len(o.Apps) > 0 }

// signOn is what a person's groups come to.
func (o *OIDC) signOn(who person) model.SignOn {
	in := model.SignOn{
		Issuer: o.Issuer, Subject: who.Subject, Name: who.Name, DisplayName: who.DisplayName, MapsApps: len(o.Apps) > 0,
	}
	mapped := false
	if len(o.Roles) > 0 {
		role := model.RoleMember
		for _, group := range who.Groups {
			given, ok := o.Roles[group]
			mapped = mapped || ok
			if ok && roleRank[given] > roleRank[role] {
				role = given
			}
		}
		in.Role = &role
	}
	for _, rule := range o.Apps {
		if slices.Contains(who.Groups, rule.Group) {
			mapped = true
			if in.Apps == nil {
				in.Apps = map[string]model.AppRole{}
			}
			in.Apps[rule.App] = model.HigherAppRole(in.Apps[rule.App], rule.Role)
		}
	}
	in.Create = o.Admit == AdmitEveryone || o.Admit == AdmitMapped && mapped
	return in
}

// roleRank says which of several roles counts.
var roleRank = map[model.Role]int{model.RoleMember: 1, model.RoleAuditor: 2, model.RoleAdmin: 3}

func textClaim(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // what is no text is none
	return text
}

// displayBound is the most characters of a display name.
const displayBound = 100

// cleanName makes a display name of what a provider sends: one line of bounded length.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	letters := []rune(strings.TrimSpace(name))
	return string(letters[:min(len(letters), displayBound)])
}
