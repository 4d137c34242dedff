// Package ginlimit is middleware for gin that asks Headgate's buckets before a request goes on.
//
//	limit, err := ginlimit.New(c, []ginlimit.Rule{
//		{Bucket: "api"},                                          // everybody together
//		{Bucket: "api-per-user", Key: ginlimit.Value("user_id")}, // each user, as an earlier handler has set it
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	router.Use(limit)
//
// Rules, keys, refusals and header fields are those of package httplimit, whose documentation applies. A refused request is
// answered and aborted; no later handler runs.
package ginlimit
