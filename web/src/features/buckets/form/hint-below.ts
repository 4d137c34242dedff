import type { InputWrapperProps } from '@mantine/core';

/** Of inputs side by side: with the hint beneath, they stay in line however many lines each hint takes. */
export const hintBelow: InputWrapperProps['inputWrapperOrder'] = ['label', 'input', 'description', 'error'];
