import { buckets } from './buckets';
import { common } from './common';
import { health } from './health';
import { people } from './people';
import { shell } from './shell';
import { tokens } from './tokens';

export default { ...common, ...buckets, ...people, ...health, ...shell, ...tokens };
