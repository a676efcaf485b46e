import { useState } from 'preact/hooks'
import { isUnknown } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { readGroup } from '../assets/group.js'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { formatTime, parseTime } from '../words/format.js'
import { sharesPath } from './share.js'
import { ShareForm } from './share-form.js'
import { t } from './words.js'

/** @typedef {import('./share.js').Share} Share */

/**
 * To whom a group is lent, and lending it to others.
 * @param {{ id: string }} props of the group
 */
export const Shares = ({ id }) => {
  const api = useApi()
  const loaded = useLoaded(
    async (signal) => {
      const [group, shares, team] = await Promise.all([
        readGroup(api, id, signal),
        api.requestWithToken(sharesPath(id), { signal }),
        readTeam(api, signal),
      ])
      return { group, shares: /** @type {readonly Share[]} */ (shares.Result.Items), team }
    },
    [id],
  )
  const [open, setOpen] = useState(/** @type {{ kind: 'change' | 'end', share: Share } | undefined} */ (undefined))
  const { group, shares, team = null } = loaded.value ?? {}
  const close = () => setOpen(undefined)
  const end = async () => {
    if (!open) return
    await api.requestWithToken(`${sharesPath(id)}/${encodeURIComponent(open.share.Id)}`, { method: 'DELETE' })
    showToast(t.shares.ended)
    // At once, so that the closing dialog gives the focus to what is still there.
    loaded.change((before) => ({ ...before, shares: before.shares.filter(({ Id }) => Id !== open.share.Id) }))
  }
  const name = group ? group.Name || id : id
  const isMissing = !shares && isUnknown(loaded.error)
  return html`
    <a class="back" href=${linkTo('groups', group?.GroupType ?? 'AIGC', id)}><${Icon} name="back" />${name}</a>
    <div class="heading"><h1 tabindex="-1">${isMissing ? t.shares.notOwn : t.shares.title(name)}</h1></div>
    ${
      isMissing
        ? html`<${Empty} icon="groups" title=${t.shares.notOwn}><p>${t.shares.notOwnHint}</p><a class="button" href=${linkTo('groups')}>${t.groups.toGroups}</a><//>`
        : html`<p class="lead">${t.shares.lead}</p><${Failure} message=${loaded.error} retry=${loaded.reload} />`
    }
    ${!shares && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      shares &&
      html`
        <${ShareForm} group=${id} team=${team} onDone=${loaded.reload} />
        <section>
          <h2>${t.shares.list}</h2>
          ${
            shares.length > 0
              ? html`<ul class="rows">${shares.map((share) => html`<${Row} key=${share.Id} share=${share} onOpen=${setOpen} />`)}</ul>`
              : html`<${Empty} icon="person" title=${t.shares.empty}><p>${t.shares.emptyHint}</p><//>`
          }
        </section>
      `
    }
    ${
      open?.kind === 'change' &&
      html`
        <${Dialog} title=${t.shares.editOf(nameOf(open.share))} onClose=${close}>
          <${ShareForm} group=${id} team=${team} share=${open.share} onDone=${() => {
            close()
            loaded.reload()
          }} />
        <//>
      `
    }
    ${
      open?.kind === 'end' &&
      html`<${FormDialog} danger title=${t.shares.endTitle} submitLabel=${t.shares.endTitle} action=${end} onClose=${close}><p>${t.shares.endWarning(nameOf(open.share))}</p><//>`
    }
  `
}

/**
 * The team of the user. Null: none, or the server does not tell.
 * @param {import('../api/api.js').Api} api
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>}
 */
const readTeam = async (api, signal) =>
  paths.account === undefined ? null : (await api.request(paths.account, { signal })).account.team

/** @param {Share} share */
const nameOf = ({ User = '', Team }) => (Team === undefined ? User : t.shares.ofTeam(Team))

/** @param {{ share: Share, onOpen: (open: { kind: 'change' | 'end', share: Share }) => void }} props */
const Row = ({ share, onOpen }) => {
  const name = nameOf(share)
  return html`
    <li>
      <div class="item-text">
        <p class="name">${share.Team === undefined ? html`<code>${name}</code>` : name}</p>
        <p class="hint">
          <span class="badge">${t.groups.access[share.Access]}</span>
          <${When} label=${t.shares.since} value=${share.CreateTime} />
          ${share.ExpireTime === undefined ? html`<span>${t.shares.forever}</span>` : html`<${When} label=${t.shares.ends} value=${share.ExpireTime} />`}
          ${share.LastUseTime === undefined ? html`<span>${t.shares.neverUsed}</span>` : html`<${When} label=${t.shares.used} value=${share.LastUseTime} />`}
        </p>
      </div>
      <div class="actions">
        <button type="button" class="small" aria-label=${t.shares.editOf(name)} onClick=${() => onOpen({ kind: 'change', share })}>${t.shares.edit}</button>
        <button type="button" class="small danger" aria-label=${t.shares.endOf(name)} onClick=${() => onOpen({ kind: 'end', share })}>${t.shares.end}</button>
      </div>
    </li>
  `
}

/** @param {{ label: string, value: string }} props */
const When = ({ label, value }) => {
  const time = parseTime(value)
  return time && html`<span>${label} <time datetime=${time.toISOString()}>${formatTime(time)}</time></span>`
}
