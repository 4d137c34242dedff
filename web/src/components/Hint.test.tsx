// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { withBrowser } from '@/lib/testing';
import { Hint } from './Hint';

withBrowser();
beforeEach(() => {
  render(
    <MantineProvider env="test">
      <Hint label="Callers are counted, none is refused." maw={200}>
        <b>shadow</b>
      </Hint>
    </MantineProvider>,
  );
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
