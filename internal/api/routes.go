package api

import (
	"net/http"

	"github.com/headgate/headgate/internal/auth"
)

// routes is the whole API: method, path, the permission that it needs, its handler. Permissions that depend on the
// bucket or app are demanded again by the handler, for that bucket or app.
func (s *server) routes(r *routes) {
	r.plain("/healthz", auth.Public, s.healthz)
	r.plain("/readyz", auth.Public, s.readyz)
	r.plain("/api/v1/openapi.json", auth.Public, s.openapi)

	s.signOnRoutes(r)
	s.accountRoutes(r)
	s.bucketRoutes(r)
	s.alertRoutes(r)
	s.appRoutes(r)
	s.peopleRoutes(r)
	s.auditRoutes(r)
}

// accountRoutes let people in, and show them what is their own.
func (s *server) accountRoutes(r *routes) {
	get(r, "/auth/methods", auth.Public, s.methods, "loginMethods", "The ways to log in")
	post(r, "/auth/login", auth.Public, s.login, "login", "Log in; sets the cookies of a session")
	post(r, "/auth/refresh", auth.Public, s.refresh, "refresh", "Exchange the refresh cookie for new cookies")
	post(r, "/auth/logout", auth.Public, s.logout, "logout", "End the session", answers(http.StatusNoContent))
	get(r, "/auth/me", auth.Known, s.me, "me", "Who is logged in")
	put(r, "/auth/me", auth.Self, s.updateMe, "updateMe", "Change one's own profile")
	post(r, "/auth/password", auth.Self, s.changePassword, "changePassword", "Change one's own password; ends one's other sessions", answers(http.StatusNoContent))
	get(r, "/auth/sessions", auth.Self, s.listSessions, "listSessions", "List one's own sessions, the one used last first")
	del(r, "/auth/sessions", auth.Self, s.endOtherSessions, "endOtherSessions", "End one's other sessions")
	del(r, "/auth/sessions/{id}", auth.Self, s.endSession, "endSession", "End one of one's own sessions", answers(http.StatusNoContent))
}

// bucketRoutes are about buckets, present and past.
func (s *server) bucketRoutes(r *routes) {
	get(r, "/buckets", auth.BucketSee, s.listBuckets, "listBuckets", "List the buckets that one may see")
	post(r, "/buckets", auth.BucketCreate, s.createBucket, "createBucket", "Create a bucket", answers(http.StatusCreated))
	post(r, "/buckets/bulk", auth.BucketEdit, s.updateBuckets, "updateBuckets", "Make one change to many buckets, or to none of them")
	get(r, "/bucket-labels", auth.BucketSee, s.bucketLabels, "bucketLabels", "The labels of the buckets that one may see, to filter by")
	get(r, "/buckets/{name}", auth.BucketSee, s.getBucket, "getBucket", "Read a bucket")
	put(r, "/buckets/{name}", auth.BucketEdit, s.updateBucket, "updateBucket", "Replace a bucket's definition; fields left out get their defaults")
	del(r, "/buckets/{name}", auth.BucketEdit, s.deleteBucket, "deleteBucket", "Delete a bucket")
	get(r, "/buckets/{name}/changes", auth.BucketSee, s.bucketChanges, "bucketChanges", "A bucket's history, newest first")
	get(r, "/buckets/{name}/revisions/{revision}", auth.BucketSee, s.getRevision, "getRevision", "A bucket as one of its revisions left it, also a deleted one")
	get(r, "/buckets/{name}/revisions/{revision}/compare/{to}", auth.BucketSee, s.compareRevisions, "compareRevisions", "What two revisions of a bucket differ in")
	post(r, "/buckets/{name}/rollback", auth.BucketEdit, s.rollBackBucket, "rollBackBucket", "Make an earlier revision's definition the next revision")
	post(r, "/buckets/{name}/restore", auth.BucketEdit, s.restoreBucket, "restoreBucket", "Bring a deleted bucket back under its name")
	get(r, "/buckets/{name}/as-of", auth.BucketSee, s.bucketAsOf, "bucketAsOf", "What was in force at an instant, and who could change it")
	get(r, "/deleted-buckets", auth.BucketSee, s.listDeleted, "listDeleted", "Deleted buckets that one may see: all of them, or those that one owned")
	get(r, "/deleted-buckets/{name}", auth.BucketSee, s.getDeleted, "getDeleted", "A deleted bucket that one may see")
	get(r, "/as-of", auth.AuditRead, s.bucketsAsOf, "bucketsAsOf", "All buckets that were in force at an instant")
	get(r, "/buckets/{name}/sync", auth.BucketSee, s.bucketSync, "bucketSync", "Where a bucket's last edit has arrived: in Redis, and at each SDK instance")
	get(r, "/buckets/{name}/usage", auth.BucketSee, s.bucketUsage, "bucketUsage", "Permits granted and limited per minute and app")
	get(r, "/buckets/{name}/live", auth.BucketSee, s.bucketLive, "bucketLive", "What Redis has of a bucket now")
}

// alertRoutes are about when owners are told.
func (s *server) alertRoutes(r *routes) {
	get(r, "/buckets/{name}/alert-rules", auth.BucketSee, s.getAlertRules, "getAlertRules", "When the owners of a bucket are told, and what is open")
	put(r, "/buckets/{name}/alert-rules", auth.BucketEdit, s.setAlertRules, "setAlertRules", "Replace the alert rules of a bucket")
	get(r, "/alerts", auth.BucketSee, s.listAlerts, "listAlerts", "Alerts of the buckets that one may see: the open ones, then those of the last 30 days, each the newest first")
}

// appRoutes are about apps and their members.
func (s *server) appRoutes(r *routes) {
	get(r, "/buckets/{name}/limited-keys", auth.BucketSee, s.bucketLimitedKeys, "bucketLimitedKeys", "The keys of a bucket that were limited most")
	get(r, "/buckets/{name}/instances", auth.BucketSee, s.bucketInstances, "bucketInstances", "Live clients that use a bucket, with the revision that each decides by")
	post(r, "/buckets/{name}/try", auth.BucketEdit, s.tryBucket, "tryBucket", "Acquire once, for real: takes permits, counts as usage and leaves a change row")
	watched(r, "/stream", auth.BucketSee, s.stream, "stream", "Live figures of buckets, or of an app, as server-sent events")
	get(r, "/overview", auth.BucketSee, s.overview, "overview", "What is limited now, what is near its limit, and what changed")

	get(r, "/apps", auth.AppSee, s.listApps, "listApps", "List the apps that one may see")
	post(r, "/apps", auth.AppCreate, s.createApp, "createApp", "Register an app", answers(http.StatusCreated))
	get(r, "/apps/{name}", auth.AppSee, s.getApp, "getApp", "Read an app with its members")
	get(r, "/apps/{name}/usage", auth.BucketSee, s.appUsage, "appUsage", "An app's permits, summed over the buckets that one may see")
	put(r, "/apps/{name}", auth.AppManage, s.updateApp, "updateApp", "Change an app's description")
	del(r, "/apps/{name}", auth.AppManage, s.deleteApp, "deleteApp", "Remove an app that no bucket lists", answers(http.StatusNoContent))
	put(r, "/apps/{name}/members/{user}", auth.AppManage, s.setMember, "setMember", "Make a user a member of an app, or change its role")
	del(r, "/apps/{name}/members/{user}", auth.AppManage, s.removeMember, "removeMember", "End a membership")
}

// peopleRoutes are about users, and the tokens by which programs act as them.
func (s *server) peopleRoutes(r *routes) {
	get(r, "/users", auth.UserSee, s.listUsers, "listUsers", "List the users")
	post(r, "/users", auth.UserManage, s.createUser, "createUser", "Create a user", answers(http.StatusCreated))
	get(r, "/users/names", auth.UserNames, s.userNames, "userNames", "Names of enabled users, to pick owners and members")
	get(r, "/users/{name}", auth.UserSee, s.getUser, "getUser", "Read a user")
	get(r, "/permissions", auth.UserSee, s.listActions, "listPermissions", "The permission table: each action with what it is asked for, and the roles and relations that give it")
	get(r, "/users/{name}/permissions", auth.UserSee, s.why, "whyMay", "Whether a user may do something, and why")
	put(r, "/users/{name}", auth.UserManage, s.updateUser, "updateUser", "Change a user; disabling ends its sessions")
	post(r, "/users/{name}/password", auth.UserManage, s.setPassword, "setPassword", "Set a user's password; ends its sessions", answers(http.StatusNoContent))
	get(r, "/users/{name}/sessions", auth.UserManage, s.userSessions, "userSessions", "List a user's sessions")
	del(r, "/users/{name}/sessions", auth.UserManage, s.endUserSessions, "endUserSessions", "End all sessions of a user")

	get(r, "/tokens", auth.Self, s.listTokens, "listTokens", "List one's own API tokens, or everybody's")
	get(r, "/tokens/{id}", auth.Self, s.getToken, "getToken", "One of one's own API tokens, or of everybody's")
	post(r, "/tokens", auth.Self, s.createToken, "createToken", "Make an API token; the answer shows its secret this once", answers(http.StatusCreated))
	del(r, "/tokens/{id}", auth.Self, s.revokeToken, "revokeToken", "Revoke an API token for good", answers(http.StatusNoContent))
	get(r, "/service-accounts", auth.TokenManage, s.listServiceAccounts, "listServiceAccounts", "List the service accounts")
	post(r, "/service-accounts", auth.TokenManage, s.createServiceAccount, "createServiceAccount", "Make an account that only programs use, by API tokens", answers(http.StatusCreated))
}

// auditRoutes are about the history, whom it is told to, and the system.
func (s *server) auditRoutes(r *routes) {
	get(r, "/changes", auth.AuditRead, s.listChanges, "listChanges", "The whole change log, newest first")
	get(r, "/audit/chain", auth.AuditRead, s.auditChain, "auditChain", "Where the change log's chain of hashes stands, and its newest checkpoint")
	streamed(r, "/audit/verify", auth.AuditRead, s.verifyChanges, "verifyChanges", "Verify the change log; each line tells how far it is, the last one has the report")
	streamed(r, "/export/changes", auth.AuditExport, s.exportChanges, "exportChanges", "The change log as a file, oldest first")
	streamed(r, "/export/buckets", auth.BucketSee, s.exportBuckets, "exportBuckets", "The buckets that one may see as a file")
	get(r, "/webhooks", auth.WebhookManage, s.listWebhooks, "listWebhooks", "List the endpoints that changes are told to")
	post(r, "/webhooks", auth.WebhookManage, s.createWebhook, "createWebhook", "Add an endpoint; the answer shows its secret this once", answers(http.StatusCreated))
	get(r, "/webhooks/{name}", auth.WebhookManage, s.getWebhook, "getWebhook", "Read an endpoint with its last attempts")
	put(r, "/webhooks/{name}", auth.WebhookManage, s.updateWebhook, "updateWebhook", "Change an endpoint; one that was given up starts again")
	del(r, "/webhooks/{name}", auth.WebhookManage, s.deleteWebhook, "deleteWebhook", "Remove an endpoint", answers(http.StatusNoContent))
	post(r, "/webhooks/{name}/test", auth.WebhookManage, s.testWebhook, "testWebhook", "Send an endpoint a test and tell how that went")
	post(r, "/webhooks/{name}/secret", auth.WebhookManage, s.renewWebhookSecret, "renewWebhookSecret", "Give an endpoint another secret; the answer shows it this once")
	post(r, "/webhooks/{name}/redeliver", auth.WebhookManage, s.redeliver, "redeliverWebhook", "Tell an endpoint again from a change on, or skip up to one")
	get(r, "/system/sync", auth.SystemSee, s.systemSync, "systemSync", "How far Redis has followed the database, all in all")
	get(r, "/system/instances", auth.SystemSee, s.systemInstances, "systemInstances", "The live SDK instances, with those that decide by an earlier revision")
	post(r, "/system/reconcile", auth.SystemManage, s.reconcileNow, "reconcileNow", "Compare all of Redis with the database now, and put right what differs")
	get(r, "/break-glass", auth.Known, s.listBreakGlass, "listBreakGlass", "What is in shadow by break-glass, whatever the definitions say")
	post(r, "/break-glass", auth.BreakGlass, s.startBreakGlass, "startBreakGlass", "Put everything, or one app's calls, into shadow until that is ended", answers(http.StatusCreated))
	del(r, "/break-glass/{id}", auth.BreakGlass, s.endBreakGlass, "endBreakGlass", "End a break-glass: the definitions apply again")
	get(r, "/system", auth.SystemSee, s.system, "system", "State of the database, Redis and reconcile")
}
