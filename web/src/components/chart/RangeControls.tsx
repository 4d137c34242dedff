import { ActionIcon, Button, Group, SegmentedControl, Tooltip } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconZoomIn, IconZoomOut, IconZoomReset } from '@tabler/icons-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { ranges, type Range } from './series';

interface RangeControlsProps {
  range: Range;
  onRange: (range: Range) => void;
  paused: boolean;
  onPause: (paused: boolean) => void;
  zoomed: boolean;
  /** Null shows the whole range. */
  onZoom: (span: null) => void;
  /** Shows so many times as much detail. */
  onZoomBy: (factor: number) => void;
}

/** Which time the chart shows. Zooming is also done by dragging over the chart; these are its keys. */
export const RangeControls = memo(function RangeControls({ range, onRange, paused, onPause, zoomed, onZoom, onZoomBy }: RangeControlsProps) {
  const { t } = useTranslation();
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={t('live.range')}
        value={range}
        onChange={(value) => onRange(value as Range)}
        data={ranges.map((value) => ({ value, label: t(`range.${value}`) }))}
      />
      <Group gap={4} wrap="nowrap">
        <IconButton label={t('live.zoomIn')} icon={<IconZoomIn size={16} aria-hidden />} onClick={() => onZoomBy(2)} />
        <IconButton
          label={t('live.zoomOut')}
          icon={<IconZoomOut size={16} aria-hidden />}
          disabled={!zoomed}
          onClick={() => onZoomBy(1 / 2)}
        />
        <IconButton label={t('live.zoomReset')} icon={<IconZoomReset size={16} aria-hidden />} disabled={!zoomed} onClick={() => onZoom(null)} />
      </Group>
      <Button
        size="xs"
        variant="default"
        leftSection={paused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />}
        onClick={() => onPause(!paused)}
      >
        {paused ? t('live.resume') : t('live.pause')}
      </Button>
    </Group>
  );
});

interface IconButtonProps {
  label: string;
  icon: React.ReactNode;
  disabled?: boolean;
  onClick: () => void;
}

function IconButton({ label, icon, disabled = false, onClick }: IconButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={30} aria-label={label} disabled={disabled} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
