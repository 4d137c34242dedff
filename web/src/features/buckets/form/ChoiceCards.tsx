import { Radio, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './ChoiceCards.module.css';

interface ChoiceCardsProps {
  label: string;
  description?: string;
  options: { value: string; label: string; description: string; example?: string }[];
  value?: string;
  onChange?: (value: string) => void;
  error?: ReactNode;
}

/** One choice out of a few, each with its meaning and an example. */
export function ChoiceCards({ label, description, options, value, onChange, error }: ChoiceCardsProps) {
  return (
    <Radio.Group
      label={label}
      description={description}
      error={error}
      value={value ?? ''}
      {...(onChange ? { onChange } : {})}
      required
    >
      <SimpleGrid cols={{ base: 1, sm: 2, lg: options.length === 4 ? 4 : 3 }} my="xs" spacing="sm">
        {options.map((option) => (
          <label key={option.value} className={classes.card} data-checked={value === option.value || undefined}>
            <span className={classes.name}>
              <Radio value={option.value} error={Boolean(error)} />
              {option.label}
            </span>
            <Text size="sm" c="dimmed" component="span">
              {option.description}
            </Text>
            {option.example && (
              <Text size="sm" component="span" className={classes.example}>
                {option.example}
              </Text>
            )}
          </label>
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}
