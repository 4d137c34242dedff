/** A request of the API that a form makes. */
export interface ApiCall {
  method: 'POST' | 'PUT' | 'DELETE';
  /** Behind /api/v1, with its names already encoded. */
  path: string;
  body?: Readonly<Record<string, unknown>>;
  /** The revision that a write is based on. */
  base?: number;
  /** What no token may do: the command then logs in as this user first, with the password from HEADGATE_PASSWORD. */
  login?: string;
  /** Fields of the body that are secret: the command takes each from the shell variable named. */
  secrets?: Readonly<Record<string, string>>;
}

/** A word of the shell that stands for exactly this text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// A secret closes the quotes around the body, so that the shell puts its variable there.
function body(fields: Readonly<Record<string, unknown>>, secrets: Readonly<Record<string, string>> = {}): string {
  const shown = { ...fields, ...Object.fromEntries(Object.keys(secrets).map((name) => [name, `\u0000${name}\u0000`])) };
  let text = quoted(JSON.stringify(shown));
  for (const [name, variable] of Object.entries(secrets)) text = text.replace(`\\u0000${name}\\u0000`, `'"$${variable}"'`);
  return text;
}

const json = `-H 'Content-Type: application/json'`;
const cookies = 'headgate.cookies';

/** The command that makes the same request from a shell. A token comes from HEADGATE_TOKEN. */
export function curlCommand(call: ApiCall, origin: string): string {
  const begin = 'curl -sS --fail-with-body';
  const match = call.base === undefined ? '' : ` -H 'If-Match: "${call.base}"'`;
  const sent = call.body === undefined ? [`-X ${call.method}${match}`] : [`-X ${call.method} ${json}${match}`, `-d ${body(call.body, call.secrets)}`];
  const rest = [...sent, quoted(`${origin}/api/v1${call.path}`)];
  if (call.login === undefined) return [`${begin} -H "Authorization: Bearer $HEADGATE_TOKEN"`, ...rest].join(' \\\n  ');
  const login = body({ name: call.login }, { password: 'HEADGATE_PASSWORD' });
  return [
    [`${begin} -o /dev/null -c ${cookies} ${json}`, `-d ${login}`, `${quoted(`${origin}/api/v1/auth/login`)} &&`].join(' \\\n  '),
    [`${begin} -b ${cookies}`, ...rest].join(' \\\n  '),
  ].join('\n');
}

/** A request to delete something: its reason stands in the address. */
export function deletion(path: string, reason: string, more: Pick<ApiCall, 'base' | 'login'> = {}): ApiCall {
  const said = reason.trim() ? `?${new URLSearchParams({ reason: reason.trim() })}` : '';
  return { method: 'DELETE', path: path + said, ...more };
}
