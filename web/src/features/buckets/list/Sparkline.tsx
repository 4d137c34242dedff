import { Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/lib/api/client';
import { bucketKeys } from '@/features/buckets/api/keys';
import { formatNumber } from '@/lib/format/numbers';
import classes from './Sparkline.module.css';

const [width, height] = [80, 26]; // px
const minutes = 60;
const refreshEvery = 60_000; // ms

/** The last hour of a bucket, minute by minute; the newest whole minute in words. Asked for once it is on the screen. */
export function Sparkline({ name }: { name: string }) {
  const { t, i18n } = useTranslation();
  const { ref, entry } = useIntersection();
  const usage = useQuery({
    queryKey: bucketKeys.usage(name, '1h'),
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets/{name}/usage', { params: { path: { name }, query: { range: '1h' } }, signal })),
    enabled: entry?.isIntersecting ?? false,
    refetchInterval: refreshEvery,
    staleTime: refreshEvery / 2,
  });
  const data = usage.data;
  const last = data ? Math.floor(data.redis_time_us / 60_000_000) - 1 : 0; // the last minute that is over
  const granted = new Array<number>(minutes).fill(0);
  const limited = new Array<number>(minutes).fill(0);
  for (const row of data?.items ?? []) {
    const at = minutes - 1 - (last - row.minute);
    if (at < 0 || at >= minutes) continue;
    granted[at] = (granted[at] ?? 0) + row.granted;
    limited[at] = (limited[at] ?? 0) + row.limited + row.shadow_limited;
  }
  const top = Math.max(1, ...granted, ...limited);
  const used = (values: readonly number[]) => values.some((value) => value > 0); // else it would double the base line
  const number = (value = 0) => formatNumber(value / 60, i18n.language, 1);
  const words = t('sparkline.words', { granted: number(granted.at(-1)), limited: number(limited.at(-1)) });
  return (
    <span ref={ref} className={classes.box} title={data && words}>
      <svg width={width} height={height} aria-hidden>
        <line x1="0" y1={height - 0.5} x2={width} y2={height - 0.5} className={classes.base} />
        {used(granted) && <path d={path(granted, top)} className={classes.granted} />}
        {used(limited) && <path d={path(limited, top)} className={classes.limited} />}
      </svg>
      <Text span size="xs" c="dimmed" className="visually-hidden">
        {data ? words : t('common.loading')}
      </Text>
    </span>
  );
}

function path(values: readonly number[], top: number): string {
  return values
    .map((value, index) => {
      const x = (index * width) / (values.length - 1);
      const y = height - 1.5 - ((height - 3) * value) / top;
      return `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('');
}
