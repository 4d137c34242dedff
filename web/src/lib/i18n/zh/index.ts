import { buckets } from './buckets';
import { common } from './common';
import { people } from './people';
import { tokens } from './tokens';

export default { ...common, ...buckets, ...people, ...tokens };
