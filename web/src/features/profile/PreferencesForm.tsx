import { Input, SegmentedControl, Select, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { absoluteTime } from '@/lib/format/time';
import { languages, setLanguage, type Language } from '@/lib/i18n';
import { setZone, useZone, zones, type Zone } from '@/lib/zone';
import { Section } from '@/components/Section';

const schemes = ['light', 'dark', 'auto'] as const;

/** How this browser shows the console. */
export function PreferencesForm() {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const zone = useZone();
  return (
    <Section title={t('profile.preferences')} description={t('profile.preferencesText')}>
      <Stack>
        <Select
          label={t('shell.language')}
          data={languages.map(({ code, name }) => ({ value: code, label: name }))}
          value={i18n.language}
          onChange={(code) => code && void setLanguage(code as Language)}
          allowDeselect={false}
        />
        <Choice label={t('shell.scheme')}>
          {(label) => (
            <SegmentedControl
              aria-labelledby={label}
              fullWidth
              value={colorScheme}
              onChange={(scheme) => setColorScheme(scheme as (typeof schemes)[number])}
              data={schemes.map((scheme) => ({ value: scheme, label: t(`scheme.${scheme}`) }))}
            />
          )}
        </Choice>
        <Choice label={t('profile.zone')}>
          {(label) => (
            <>
              <SegmentedControl
                aria-labelledby={label}
                fullWidth
                value={zone}
                onChange={(chosen) => setZone(chosen as Zone)}
                data={zones.map((one) => ({ value: one, label: t(`zone.${one}`) }))}
              />
              <Now zone={zone} />
            </>
          )}
        </Choice>
      </Stack>
    </Section>
  );
}

function Choice({ label, children }: { label: string; children: (id: string) => React.ReactNode }) {
  const id = useId();
  return (
    <div>
      <Input.Label id={id} component="div" mb={4}>
        {label}
      </Input.Label>
      {children(id)}
    </div>
  );
}

function Now({ zone }: { zone: Zone }) {
  const { t, i18n } = useTranslation();
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Text size="sm" c="dimmed" mt={6} style={{ fontVariantNumeric: 'tabular-nums' }}>
      {t('profile.now', { time: absoluteTime(now, i18n.language, zone) })}
    </Text>
  );
}
