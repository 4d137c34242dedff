import { alerts } from './alerts';
import { asOf } from './asOf';
import { buckets } from './buckets';
import { common } from './common';
import { figures } from './figures';
import { glass } from './glass';
import { health } from './health';
import { overview } from './overview';
import { people } from './people';
import { rules } from './rules';
import { shell } from './shell';
import { tokens } from './tokens';
import { webhooks } from './webhooks';

export default { ...alerts, ...asOf, ...common, ...buckets, ...overview, ...people, ...figures, ...glass, ...health, ...shell, ...tokens, ...rules, ...webhooks };
