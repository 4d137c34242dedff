// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Hint } from './Hint';

beforeEach(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  vi.stubGlobal('ResizeObserver', class { observe() {} unobserve() {} disconnect() {} });
  render(
    <MantineProvider env="test">
      <Hint label="Callers are counted, none is refused." maw={200}>
        <b>shadow</b>
      </Hint>
    </MantineProvider>,
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('the words come with the pointer and go with it', async () => {
  const word = screen.getByText('shadow');
  expect(screen.queryByRole('tooltip')).toBeNull();
  fireEvent.pointerEnter(word, { pointerType: 'mouse' });
  expect((await screen.findByRole('tooltip')).textContent).toBe('Callers are counted, none is refused.');
  expect(screen.getByText('shadow')).toBe(word); // what is pointed at stays where it is
  fireEvent.mouseLeave(word);
  await vi.waitFor(() => expect(screen.queryByRole('tooltip')).toBeNull());
});

test('a touch asks for no words', () => {
  fireEvent.pointerEnter(screen.getByText('shadow'), { pointerType: 'touch' });
  expect(screen.queryByRole('tooltip')).toBeNull();
});
