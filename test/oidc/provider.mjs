// An OpenID Connect provider for the tests: oidc-provider, which is certified for the standard, with its own login and
// consent pages for development. Any password is right. POST /test/people says who there is and what is told of them.
//
// Settings: PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, CODE_SECONDS (how long a code is good), TOKEN_CLAIMS=1 (names
// and groups in the ID token and not only in userinfo).
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, CODE_SECONDS = '60', TOKEN_CLAIMS } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
let people = {};

const provider = new Provider(issuer, {
  clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI] }],
  claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
  conformIdTokenClaims: !TOKEN_CLAIMS,
  cookies: { keys: ['only for tests'] },
  features: { devInteractions: { enabled: true } },
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  pkce: { required: () => true, methods: ['S256'] },
  ttl: { AuthorizationCode: Number(CODE_SECONDS), AccessToken: 60, IdToken: 60, Grant: 600, Interaction: 600, Session: 600 },
});

async function setPeople(request, response) {
  let body = '';
  for await (const part of request) body += part;
  people = JSON.parse(body);
  response.writeHead(204).end();
}

const answer = provider.callback();
createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/test/people') void setPeople(request, response);
  else answer(request, response);
}).listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
