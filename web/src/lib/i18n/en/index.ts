import { alerts } from './alerts';
import { apps } from './apps';
import { asOf } from './asOf';
import { buckets } from './buckets';
import { chain } from './chain';
import { changes } from './changes';
import { common } from './common';
import { figures } from './figures';
import { glass } from './glass';
import { health } from './health';
import { login } from './login';
import { overview } from './overview';
import { people } from './people';
import { rules } from './rules';
import { shell } from './shell';
import { tokens } from './tokens';
import { webhooks } from './webhooks';

/** All texts together, for tests: the console itself loads them in parts. */
export default { ...alerts, ...apps, ...asOf, ...common, ...buckets, ...overview, ...people, ...figures, ...glass, ...health, ...shell, ...login, ...chain, ...changes, ...tokens, ...rules, ...webhooks };
