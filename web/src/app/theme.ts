import { Badge, createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const water: MantineColorsTuple = [
  '#e8f2ff',
  '#cfe1fb',
  '#9ec2f3',
  '#6aa1ec',
  '#4086e6',
  '#2773e0',
  '#1f66cf',
  '#1859b8',
  '#124c9f',
  '#0b3f86',
];

export const theme = createTheme({
  colors: { water },
  primaryColor: 'water',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono CJK SC", monospace',
  headings: { fontWeight: '650' },
  components: {
    // Never cut short: a state must be readable in full.
    Badge: Badge.extend({ styles: { root: { minWidth: 'max-content' } } }),
    // By name, since dialogs are loaded after the theme.
    ModalTitle: { defaultProps: { fw: 650, fz: 'lg' } },
    // A dialog's header would be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    // A menu is within its page's landmark, and has nothing that takes the focus but its items.
    Menu: { defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } },
  },
});

// Mantine's own shades for these fall below a contrast of 4.5 : 1 on the page or on a card.
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a626b',
    '--mantine-color-placeholder': '#667078',
    '--mantine-color-error': '#c01d1d',
    '--mantine-color-anchor': '#1859b8',
    // The titles of notices.
    '--mantine-color-orange-light-color': '#7a4205',
    '--mantine-color-red-light-color': '#a31616',
    '--mantine-color-teal-light-color': '#0b5a48',
  },
  dark: {
    // The backgrounds of notices: Mantine's own are loud on a dark page.
    '--mantine-color-red-light': '#3d2023',
    '--mantine-color-orange-light': '#3a2b1a',
    '--mantine-color-blue-light': '#1f2d42',
    '--mantine-color-teal-light': '#17322c',
    '--mantine-color-gray-light': '#2f343b',
    '--mantine-color-dimmed': '#a9afb8',
    '--mantine-color-placeholder': '#969da6',
    '--mantine-color-error': '#ff9b9b',
    '--mantine-color-anchor': '#9ec2f3',
  },
});
