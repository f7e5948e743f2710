// Dashboards by Grafana's own types. What JSON has is the text of an enum, not its member; and an option of a panel may
// be left out, which Panel of @grafana/schema says of none of them.
import type { Dashboard, FieldConfigSource, Panel, RowPanel } from '@grafana/schema';
import type * as states from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as text from '@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen';
import type * as lines from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

type Written<T> = T extends string ? `${T}` : T extends (infer I)[] ? Written<I>[] : T extends object ? { [K in keyof T]: Written<T[K]> } : T;

type Of<T extends string, Options, Custom = object> = Omit<Panel, 'type' | 'options' | 'fieldConfig'> & {
  type: T;
  options?: Partial<Options>;
  fieldConfig?: FieldConfigSource<Partial<Custom>>;
};

type Known =
  | Of<'timeseries', lines.Options, lines.FieldConfig>
  | Of<'stat', stat.Options>
  | Of<'state-timeline', states.Options, states.FieldConfig>
  | Of<'table', table.Options, table.FieldConfig>
  | Of<'text', text.Options>
  | (Omit<RowPanel, 'type'> & { type: 'row' });

export type Checked = Written<Omit<Dashboard, 'panels'> & { panels: Known[] }>;
