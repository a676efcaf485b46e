import { serverNow } from '../../api/clock.js'
import { Field, Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { formatCost, formatDay, formatNumber } from '../../words/format.js'
import { addressOf } from '../parts/admin-api.js'
import { Pages, useList } from '../parts/list.js'
import { linkToAdmin, useQuery } from '../parts/query.js'
import { SearchField } from '../parts/search-field.js'
import { Table } from '../parts/table.js'
import { useTeamChoices } from '../parts/teams-choice.js'
import { UserPicker, useUserById } from '../parts/user-picker.js'
import { w } from '../words/words.js'
import { dayBefore, usageOfToken } from './sums.js'
import { UsagePlot } from './usage-plot.js'

/** @typedef {import('./sums.js').UsageRow} UsageRow */
/** @typedef {import('./sums.js').Figure} Figure */
/** @typedef {keyof typeof w.usage.dimensions} Dimension */

const names = /** @type {const} */ ([
  'range',
  'since',
  'until',
  'user',
  'team',
  'token',
  'model',
  'kind',
  'by',
  'figure',
])
const dimensions = /** @type {readonly Dimension[]} */ (Object.keys(w.usage.dimensions))

/** Usage by day, user, team, token and model. */
export const AdminUsage = () => {
  const [query, setQuery] = useQuery(names)
  const teams = useTeamChoices(w.users.anyTeam, query.team ? { id: query.team, name: null } : undefined)
  const user = useUserById(query.user)
  const { range = '7', figure = 'cost', by = 'user,model' } = query
  const chosen = dimensions.filter((one) => by.split(',').includes(one))
  const now = serverNow()
  const isCustom = range === 'custom'
  const since = isCustom ? (query.since ?? dayBefore(now, 6)) : dayBefore(now, Number(range) - 1)
  const until = isCustom ? (query.until ?? dayBefore(now, 0)) : dayBefore(now, 0)
  const { team, token, model, kind } = query
  const filter = { since, until, user: query.user, team, token, model, kind }
  const list = useList('/usage', 'rows', { ...filter, group_by: chosen.join(',') })
  const total = useList('/usage', 'rows', { ...filter, group_by: '' })
  /** @type {readonly UsageRow[] | undefined} */
  const rows = list.items
  /** @type {UsageRow | undefined} */
  const sum = total.items?.[0]
  const set = (/** @type {typeof names[number]} */ name) => (/** @type {Event} */ event) =>
    setQuery({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value })
  const toggle = (/** @type {Dimension} */ one) =>
    setQuery({
      by:
        dimensions.filter((each) => (each === one ? !chosen.includes(one) : chosen.includes(each))).join(',') || 'day',
    })
  return html`
    <div class="heading">
      <h1 tabindex="-1">${w.sections.usage}</h1>
      <a class="button" href=${addressOf('/usage', { ...filter, group_by: chosen.join(','), format: 'csv' })} download="usage.csv">${w.usage.csv}</a>
    </div>
    <div class="filters">
      <${Select} label=${w.usage.range} value=${range} onChange=${set('range')} choices=${rangesInOrder} />
      ${isCustom && html`<${Field} label=${w.usage.since} type="date" value=${since} max=${until} onChange=${set('since')} />`}
      ${isCustom && html`<${Field} label=${w.usage.until} type="date" value=${until} min=${since} onChange=${set('until')} />`}
      <${UserPicker} label=${w.usage.user} name="filter-user" value=${user} onPick=${(/** @type {{ id: string } | undefined} */ picked, /** @type {string} */ text) => (picked || text === '') && setQuery({ user: picked?.id ?? '' })} />
      <${Select} label=${w.usage.team} value=${query.team ?? ''} onChange=${set('team')} choices=${teams} />
      <${SearchField} label=${w.usage.model} value=${query.model} onSearch=${(/** @type {string} */ model) => setQuery({ model })} />
      <${Select} label=${w.usage.kind} value=${query.kind ?? ''} onChange=${set('kind')} choices=${[['', w.usage.kinds.all], ['text', w.usage.kinds.text], ['video', w.usage.kinds.video]]} />
    </div>
    ${token && html`<p class="status-line">${w.usage.onlyToken} <code>${token}</code> <button type="button" class="small" onClick=${() => setQuery({ token: '' })}>${w.usage.allTokens}</button></p>`}
    <${Failure} message=${list.error ?? total.error} retry=${list.reload} />
    ${
      sum &&
      sum.calls > 0 &&
      html`
        <dl class="figures">
          <div><dt>${w.usage.columns.calls}</dt><dd>${formatNumber(sum.calls)}</dd></div>
          <div><dt>${w.usage.columns.input_tokens}</dt><dd>${formatNumber(sum.input_tokens)}</dd></div>
          <div><dt>${w.usage.columns.output_tokens}</dt><dd>${formatNumber(sum.output_tokens)}</dd></div>
          ${sum.video_seconds !== null && html`<div><dt>${w.usage.columns.video_seconds}</dt><dd>${formatNumber(sum.video_seconds)}</dd></div>`}
          <div><dt>${w.usage.columns.cost}</dt><dd>${sum.cost === null ? '–' : formatCost(sum.cost)}</dd></div>
        </dl>
        <${UsagePlot} filter=${filter} figure=${/** @type {Figure} */ (figure)} onFigure=${(/** @type {Figure} */ one) => setQuery({ figure: one })} />
      `
    }
    ${!rows && list.busy && html`<${Loading} kind="rows" />`}
    ${rows?.length === 0 && list.number === 1 && html`<${Empty} icon="usage" title=${w.usage.empty}><p>${w.usage.emptyHint}</p><//>`}
    ${
      rows &&
      rows.length > 0 &&
      html`
        <fieldset class="by">
          <legend>${w.usage.by}</legend>
          ${dimensions.map((one) => html`<label key=${one} class="check"><input type="checkbox" checked=${chosen.includes(one)} onChange=${() => toggle(one)} /><span>${w.usage.dimensions[one]}</span></label>`)}
        </fieldset>
        <${Table}
          caption=${w.usage.caption}
          columns=${[...chosen.map((one) => dimensionColumns[one]), ...figureColumns]}
          rows=${rows}
          keyOf=${(/** @type {UsageRow} */ row) => JSON.stringify(chosen.map((one) => row[one]))}
          busy=${list.busy}
          total=${sum}
          totalLabel=${w.usage.total}
        />
        <${Pages} list=${list} />
        ${sum && sum.unreported > 0 && html`<p class="hint">${w.usage.unreported(formatNumber(sum.unreported))}</p>`}
      `
    }
  `
}

/** The ranges. The keys of an object that are numbers come first, so these are in order. */
const rangesInOrder = Object.entries(w.usage.ranges)

/** @type {Readonly<Record<Dimension, import('../parts/table.js').Column<UsageRow>>>} */
const dimensionColumns = {
  day: {
    name: 'day',
    label: w.usage.dimensions.day,
    cell: ({ day = '' }) => html`<time datetime=${day}>${formatDay(day)}</time>`,
  },
  user: {
    name: 'user',
    label: w.usage.dimensions.user,
    cell: ({ user = '', user_name }) => html`<a href=${linkToAdmin(['users', user])}>${user_name ?? user}</a>`,
  },
  team: {
    name: 'team',
    label: w.usage.dimensions.team,
    cell: ({ team, team_name }) => (team ? (team_name ?? w.usage.unnamed) : w.usage.noTeam),
  },
  token: {
    name: 'token',
    label: w.usage.dimensions.token,
    cell: ({ token, token_name, token_start }) =>
      token
        ? html`<a href=${linkToAdmin(['usage'], usageOfToken(token))}>${token_name ?? html`<code>${token_start ?? token}…</code>`}</a>`
        : w.usage.noToken,
  },
  model: { name: 'model', label: w.usage.dimensions.model, cell: ({ model }) => model },
}

/** @type {readonly import('../parts/table.js').Column<UsageRow>[]} */
const figureColumns = [
  { name: 'calls', label: w.usage.columns.calls, figure: true, cell: ({ calls }) => formatNumber(calls) },
  {
    name: 'input',
    label: w.usage.columns.input_tokens,
    figure: true,
    cell: ({ input_tokens }) => formatNumber(input_tokens),
  },
  {
    name: 'output',
    label: w.usage.columns.output_tokens,
    figure: true,
    cell: ({ output_tokens }) => formatNumber(output_tokens),
  },
  {
    name: 'seconds',
    label: w.usage.columns.video_seconds,
    figure: true,
    cell: ({ video_seconds }) => (video_seconds === null ? '–' : formatNumber(video_seconds)),
  },
  {
    name: 'cost',
    label: w.usage.columns.cost,
    figure: true,
    cell: ({ cost }) => (cost === null ? '–' : formatCost(cost)),
  },
]
