package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/headgate/headgate/internal/model"
)

type tokenRow struct {
	ID         int64 `gorm:"primaryKey"`
	Kind       string
	Name       string
	UserID     int64
	MakerID    int64
	Scopes     string
	Hash       []byte
	Hint       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt  time.Time
	RevokedAt  *time.Time
	RevokedBy  string
	LastUsedAt *time.Time
	LastUsedBy string
}

func (tokenRow) TableName() string { return "api_tokens" }

// token shows a row with the users that it names.
func (r *tokenRow) token(user, maker *userRow) model.Token {
	t := model.Token{
		ID: r.ID, Kind: model.TokenKind(r.Kind), Name: r.Name, UserID: r.UserID, User: user.Name, MakerID: r.MakerID, Maker: maker.Name,
		Hash: r.Hash, Hint: r.Hint, CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
		RevokedAt: timeOf(r.RevokedAt), RevokedBy: r.RevokedBy, LastUsedAt: timeOf(r.LastUsedAt), LastUsedBy: r.LastUsedBy,
		Suspended: user.Disabled || !mayStillMake(r, maker),
	}
	for _, scope := range strings.Fields(r.Scopes) {
		t.Scopes = append(t.Scopes, model.TokenScope(scope))
	}
	return t
}

// mayStillMake tells whether the maker could make the token today: it is enabled, and for a service token still an
// admin. A token never may more than its maker may now.
func mayStillMake(r *tokenRow, maker *userRow) bool {
	return !maker.Disabled && (r.Kind != string(model.TokenService) || maker.Role == string(model.RoleAdmin))
}

func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// TokenByHash reads the token with this hash and the user that it acts as, both as they are now; the caller checks the
// token's state. CodeNotFound.
func (s *Store) TokenByHash(ctx context.Context, hash []byte) (model.Token, model.User, error) {
	var token model.Token
	var user model.User
	err := s.readOne(ctx, func(db *gorm.DB) error {
		var row tokenRow
		if err := db.Take(&row, "hash = ?", hash).Error; err != nil {
			return orNotFound(err, "token")
		}
		users, err := usersByID(db, row.UserID, row.MakerID)
		if err != nil {
			return err
		}
		token, user = row.token(users[row.UserID], users[row.MakerID]), users[row.UserID].user()
		return nil
	})
	return token, user, err
}

// usersByID reads the users with these ids, each of which is there: tokens refer to them by foreign keys.
func usersByID(db *gorm.DB, ids ...int64) (map[int64]*userRow, error) {
	var rows []userRow
	if err := db.Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	users := make(map[int64]*userRow, len(rows))
	for i := range rows {
		users[rows[i].ID] = &rows[i]
	}
	return users, nil
}

// Tokens lists API tokens, newest first, ended ones too until DeleteEndedTokens removes them. CodeInvalid naming the
// field of the query.
func (s *Store) Tokens(ctx context.Context, q model.TokenQuery) (model.Page[model.Token], error) {
	var page model.Page[model.Token]
	if err := q.Validate(); err != nil {
		return page, err
	}
	limit, cursor := limitOf(q.Limit), q.Cursor
	q.Limit, q.Cursor = 0, ""
	scope := cursorScope("tokens", q)
	var before int64
	if cursor != "" {
		if err := decodeCursor(scope, cursor, &before); err != nil {
			return page, err
		}
	}
	err := s.read(ctx, func(db *gorm.DB) error {
		rows, err := tokenRows(db, q, before, limit+1)
		if err != nil {
			return err
		}
		rows, page.Next = cut(rows, limit, scope, func(r tokenRow) any { return r.ID })
		page.Items, err = shownTokens(db, rows)
		return err
	})
	return page, err
}

func tokenRows(db *gorm.DB, q model.TokenQuery, before int64, limit int) ([]tokenRow, error) {
	if q.ID != 0 {
		db = db.Where("id = ?", q.ID)
	}
	if q.UserID != 0 {
		db = db.Where("user_id = ?", q.UserID)
	}
	if before > 0 {
		db = db.Where("id < ?", before)
	}
	var rows []tokenRow
	err := db.Order("id DESC").Limit(limit).Find(&rows).Error
	return rows, err
}

func shownTokens(db *gorm.DB, rows []tokenRow) ([]model.Token, error) {
	ids := make([]int64, 0, 2*len(rows))
	for _, r := range rows {
		ids = append(ids, r.UserID, r.MakerID)
	}
	users, err := usersByID(db, ids...)
	if err != nil {
		return nil, err
	}
	tokens := make([]model.Token, len(rows))
	for i := range rows {
		tokens[i] = rows[i].token(users[rows[i].UserID], users[rows[i].MakerID])
	}
	return tokens, nil
}
