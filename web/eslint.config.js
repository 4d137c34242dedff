import { readdirSync } from 'node:fs';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Imports in src point one way: lib and components <- features <- app. No feature imports another.
// Parent folders are imported by "@/…" only, so that one pattern sees every import.
const parents = { regex: '^\\.\\.', message: 'Write "@/…" instead of a path through a parent folder.' };
const fromApp = { regex: '^@/app(/|$)', message: 'Only app itself may import app.' };
const fromFeatures = { regex: '^@/features(/|$)', message: 'lib and components must not import a feature.' };
const fromComponents = { regex: '^@/components(/|$)', message: 'lib must not import components.' };

const restrict = (files, ...patterns) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

const features = readdirSync(new URL('./src/features', import.meta.url));

export default tseslint.config(
  { ignores: ['dist', 'src/lib/api/schema.gen.ts', 'test-results', 'playwright-report'] },
  ...tseslint.configs.recommended,
  reactHooks.configs.flat['recommended-latest'],
  {
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      // Of the window; where one was forgotten to be declared, these would be taken without a word.
      'no-restricted-globals': ['error', 'close', 'open', 'name', 'event', 'status', 'stop'],
      'max-lines': ['error', { max: 500 }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  { files: ['scripts/**', 'e2e/**', 'bench/**'], rules: { 'no-console': 'off' } },
  restrict(['src/app/**', 'src/main.tsx'], parents),
  restrict(['src/lib/**'], parents, fromApp, fromFeatures, fromComponents),
  restrict(['src/components/**'], parents, fromApp, fromFeatures),
  ...features.map((feature) =>
    restrict([`src/features/${feature}/**`], parents, fromApp, {
      regex: `^@/features/(?!${feature}/)`,
      message: 'A feature must not import another; share through lib or components.',
    }),
  ),
);
