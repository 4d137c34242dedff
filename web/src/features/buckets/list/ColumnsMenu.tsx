import { Button, Menu } from '@mantine/core';
import { IconColumns, IconSquare, IconSquareCheck } from '@tabler/icons-react';
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
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconColumns size={16} aria-hidden />}>
          {t('table.columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns
          .filter((column) => !column.heading && column.header !== '')
          .map(({ id, header }) => {
            const Icon = hidden.includes(id) ? IconSquare : IconSquareCheck;
            return (
              <Menu.Item
                key={id}
                role="menuitemcheckbox"
                aria-checked={!hidden.includes(id)}
                leftSection={<Icon size={16} aria-hidden />}
                onClick={() => onToggle(id)}
              >
                {header}
              </Menu.Item>
            );
          })}
      </Menu.Dropdown>
    </Menu>
  );
}
