// @vitest-environment jsdom
import { useForm } from '@mantine/form';
import { act, renderHook } from '@testing-library/react';
import { I18nextProvider, useTranslation } from 'react-i18next';
import { expect, test } from 'vitest';
import { useErrorsSpoken } from './errors-spoken';
import en from './i18n/en';
import zh from './i18n/zh';
import { speaking } from './testing';

test('a form that was refused says why in the language that is chosen then', async () => {
  const i18n = await speaking('en');
  const { result } = renderHook(
    () => {
      const { t } = useTranslation();
      const form = useForm({ initialValues: { name: '', reason: '', url: 'x' }, validate: { reason: (reason) => (reason ? null : t('rule.reason')) } });
      useErrorsSpoken(form, () => ({ name: t('rule.taken'), url: t('rule.name') }));
      return form;
    },
    { wrapper: ({ children }) => <I18nextProvider i18n={i18n}>{children}</I18nextProvider> },
  );
  act(() => {
    result.current.validate();
    result.current.setFieldError('name', i18n.t('rule.taken'));
  });
  expect(result.current.errors).toEqual({ reason: en.rule.reason, name: en.rule.taken });

  await act(() => i18n.changeLanguage('zh-CN'));
  expect(result.current.errors).toEqual({ reason: zh.rule.reason, name: zh.rule.taken });
});
