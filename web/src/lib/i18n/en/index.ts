import { buckets } from './buckets';
import { common } from './common';
import { people } from './people';

export default { ...common, ...buckets, ...people };
