import { Button, Menu } from '@mantine/core';
import { IconColumns } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import type { Column } from '@/components/DataTable';

interface ColumnsMenuProps {
  columns: readonly Column<Bucket>[];
  hidden: readonly string[];
  onToggle: (id: string) => void;
}

/** Chooses the columns of the list; the name always stays. */
export function ColumnsMenu({ columns, hidden, onToggle }: ColumnsMenuProps) {
  const { t } = useTranslation();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconColumns size={16} aria-hidden />}>
          {t('table.columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns
          .filter((column) => !column.heading && column.header !== '')
          .map(({ id, header }) => (
            <Menu.CheckboxItem key={id} checked={!hidden.includes(id)} onChange={() => onToggle(id)}>
              {header}
            </Menu.CheckboxItem>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}
