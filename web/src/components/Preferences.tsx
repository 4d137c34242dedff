import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { IconCheck, IconDeviceDesktop, IconLanguage, IconMoon, IconSun } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { languages, setLanguage } from '@/lib/i18n';

/** Switches the language of the console. */
export function LanguageMenu() {
  const { t, i18n } = useTranslation();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('shell.language')} c="inherit">
          <IconLanguage size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {languages.map(({ code, name }) => (
          <Menu.Item
            key={code}
            lang={code}
            role="menuitemradio"
            aria-checked={i18n.language === code}
            rightSection={i18n.language === code ? <IconCheck size={16} aria-hidden /> : null}
            onClick={() => void setLanguage(code)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const schemes = [
  { value: 'light', icon: IconSun },
  { value: 'dark', icon: IconMoon },
  { value: 'auto', icon: IconDeviceDesktop },
] as const;

/** Switches between light, dark and what the system prefers. */
export function SchemeMenu() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  useEffect(() => {
    // Scroll bars and native controls follow the page's own scheme.
    const meta = document.querySelector('meta[name="color-scheme"]');
    meta?.setAttribute('content', colorScheme === 'auto' ? 'light dark' : colorScheme);
  }, [colorScheme]);
  const Current = schemes.find((s) => s.value === colorScheme)?.icon ?? IconDeviceDesktop;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('shell.scheme')} c="inherit">
          <Current size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, icon: Icon }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={colorScheme === value ? <IconCheck size={16} aria-hidden /> : null}
            onClick={() => setColorScheme(value)}
          >
            {t(`scheme.${value}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
