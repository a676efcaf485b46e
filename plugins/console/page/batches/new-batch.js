import { useMemo, useRef, useState } from 'preact/hooks'
import { ApiError, isUnknown } from '../api/api-error.js'
import { createIdempotencyKeys } from '../api/idempotency-keys.js'
import { paths } from '../api/paths.js'
import { listGroups, readGroup } from '../assets/group.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { useAction, useApi, useLoaded } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { setFrom } from '../lists/search-field.js'
import { FilePicker } from '../uploads/upload-list.js'
import { formatNumber } from '../words/format.js'
import { readAddresses } from './addresses.js'
import { createBatch, maxItems } from './batch.js'
import { t } from './words.js'

/** @typedef {import('../assets/group.js').Group} Group */
/** @typedef {import('../assets/group.js').GroupType} GroupType */

/** Wrong lines that are named. */
const maxFaults = 5

/**
 * Adds many assets to a group: by their addresses, or files of this device.
 * @param {{ type: GroupType, group?: string, uploads: import('../uploads/uploads.js').Uploads }} props `group`: the id of
 * the one that is chosen first
 */
export const NewBatch = ({ type, group: first, uploads }) => {
  const api = useApi()
  const loaded = useLoaded(
    async (signal) => {
      const [given, listed] = await Promise.all([
        first === undefined ? undefined : readGroup(api, first, signal),
        listGroups(api, type, { signal }),
      ])
      return given ? [given, ...listed.filter(({ Id }) => Id !== given.Id)] : listed
    },
    [first, type],
  )
  const groups = loaded.value
  return html`
    <a class="back" href=${first === undefined ? linkTo('batches') : linkTo('groups', type, first)}><${Icon} name="back" />${first === undefined ? t.groups.batches : groups?.[0]?.Name || first}</a>
    <div class="heading"><h1 tabindex="-1">${t.batches.add}</h1></div>
    <p class="lead">${t.batches.addLead}</p>
    ${
      !groups && isUnknown(loaded.error)
        ? html`<${Empty} icon="groups" title=${t.groups.missing}><p>${t.groups.missingHint}</p><a class="button" href=${linkTo('groups', type)}>${t.groups.toGroups}</a><//>`
        : html`<${Failure} message=${loaded.error} retry=${loaded.reload} />`
    }
    ${!groups && loaded.busy && html`<${Loading} kind="rows" />`}
    ${groups?.length === 0 && html`<${Empty} icon="groups" title=${t.batches.noGroup}><p>${t.batches.noGroupHint}</p><a class="button" href=${linkTo('groups')}>${t.groups.toGroups}</a><//>`}
    ${groups && groups.length > 0 && html`<${Form} groups=${groups} uploads=${uploads} />`}
  `
}

/** @param {{ groups: readonly Group[], uploads: import('../uploads/uploads.js').Uploads }} props */
const Form = ({ groups, uploads }) => {
  const api = useApi()
  const keys = useRef(createIdempotencyKeys()).current
  const [group, setGroup] = useState(groups[0]?.Id ?? '')
  const [kind, setKind] = useState('')
  const [text, setText] = useState('')
  const { items, faults } = useMemo(() => readAddresses(text, kind), [text, kind])
  const target = { id: group, type: groups.find(({ Id }) => Id === group)?.GroupType ?? 'AIGC' }
  const { run, busy, error } = useAction(async () => {
    if (faults.length > 0) throw new ApiError(400, t.batches.mend)
    if (items.length === 0) throw new ApiError(400, t.batches.nothing)
    if (items.length > maxItems) throw new ApiError(400, t.batches.tooMany(formatNumber(maxItems)))
    const { Id } = await createBatch(api, target, items, keys.keyOf({ target, items }))
    keys.succeeded()
    navigate('batches', Id)
  })
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run()
  }
  const addFiles = (/** @type {readonly File[]} */ files) => {
    if (files.length === 0) return
    uploads.add(files, target)
    navigate('groups', target.type, group)
  }
  return html`
    <form class="panel" onSubmit=${submit} aria-busy=${busy}>
      <${Select} label=${t.batches.group} value=${group} choices=${groups.map(({ Id, Name }) => /** @type {const} */ ([Id, Name || Id]))} onChange=${setFrom(setGroup)} />
      <${Select} label=${t.batches.kind} value=${kind} choices=${[['', t.batches.byAddress], ...Object.entries(t.assets.types)]} onChange=${setFrom(setKind)} />
      <div class="whole">
        <${Field} multiline label=${t.batches.addresses} hint=${t.batches.addressesHint(formatNumber(maxItems))} rows="10" spellcheck=${false} autocomplete="off" autocapitalize="off" value=${text}
          onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLTextAreaElement} */ (event.currentTarget).value)} />
      </div>
      <div class="whole">
        <div role="status">
          ${items.length > 0 && html`<p>${t.batches.count(items.length, formatNumber(items.length))}</p>`}
          ${
            faults.length > 0 &&
            html`
              <ul class="failure-reason">
                ${faults.slice(0, maxFaults).map(({ line, fault }) => html`<li key=${`${line} ${fault}`}>${t.batches.faults[fault](formatNumber(line))}</li>`)}
                ${faults.length > maxFaults && html`<li>${t.batches.moreFaults(faults.length - maxFaults, formatNumber(faults.length - maxFaults))}</li>`}
              </ul>
            `
          }
        </div>
        <${Failure} message=${error} />
        <div class="actions"><button type="submit" class="primary" aria-disabled=${busy}>${busy ? t.working : t.batches.submit}</button></div>
      </div>
    </form>
    ${
      paths.uploads &&
      html`
        <section>
          <h2>${t.batches.device}</h2>
          <p class="lead">${t.batches.deviceLead}</p>
          <p class="list-actions"><${FilePicker} label=${t.uploads.choose} onFiles=${addFiles} /></p>
        </section>
      `
    }
  `
}
