import { useState } from 'preact/hooks'
import { useAdvice } from '../controls/advice.js'
import { CodeBlock } from '../controls/code-block.js'
import { CopyButton } from '../controls/copy-button.js'
import { FormDialog } from '../controls/dialog.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { httpUrl, Preview } from '../controls/preview.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo, navigate, previousHash, readRoute } from '../frame/route.js'
import { forgetList } from '../lists/long-list.js'
import { formatTime, parseTime } from '../words/format.js'
import { t } from '../words/words.js'
import { deleteAsset, pathOf, RenameAsset, readAsset, referenceOf, statusOf, titleOf, typeOf } from './asset.js'
import { useAssetWatch } from './asset-watch.js'
import { codeOf } from './code.js'
import { readGroup } from './group.js'
import { Uses, UsesWarning } from './uses.js'

/** @typedef {import('./asset.js').Asset} Asset */

/**
 * One asset: its preview, how requests name it, whether it was accepted, and where it is used.
 * @param {{ id: string, videos: import('../videos/videos.js').Videos }} props
 */
export const AssetPage = ({ id, videos }) => {
  const api = useApi()
  const loaded = useLoaded(
    async (signal) => {
      const asset = await readAsset(api, id, signal)
      // Without it, the link to the group has its id.
      const group = await readGroup(api, asset.GroupId, signal).catch(() => undefined)
      return { asset, group }
    },
    [id],
  )
  const [open, setOpen] = useState(/** @type {'rename' | 'delete' | undefined} */ (undefined))
  const { asset, group } = loaded.value ?? {}
  const title = asset ? titleOf(asset) : id
  const rename = (/** @type {Asset} */ renamed) => {
    loaded.change((before) => ({ ...before, asset: renamed }))
    forgetList()
  }
  const type = group?.GroupType ?? 'AIGC'
  useAssetWatch(asset?.Status === 'Processing' ? [id] : [], async () => {
    const current = await readAsset(api, id)
    loaded.change((before) => ({ ...before, asset: current }))
  })
  return html`
    <${Back} asset=${asset} group=${group} />
    <div class="heading">
      <h1 tabindex="-1">${title}</h1>
      ${
        asset &&
        !group?.Access &&
        html`
          <div class="actions">
            <button type="button" onClick=${() => setOpen('rename')}>${t.rename}</button>
            <button type="button" class="danger" onClick=${() => setOpen('delete')}>${t.delete}</button>
          </div>
        `
      }
    </div>
    ${loaded.error && (asset ? html`<${Failure} message=${loaded.error} retry=${loaded.reload} />` : html`<${Missing} message=${loaded.error} retry=${loaded.reload} />`)}
    ${!asset && loaded.busy && html`<${Loading} kind="cards" count=${1} />`}
    ${
      asset &&
      html`
        <div class="asset-page">
          <div>
            <${Preview} asset=${asset} title=${title} />
            ${httpUrl(asset.URL) && html`<p class="hint"><a href=${httpUrl(asset.URL)} target="_blank" rel="noopener noreferrer">${t.assets.openFile}</a></p>`}
          </div>
          <div>
            <${Verdict} asset=${asset} group=${type} />
            ${group?.Access && html`<p class="hint">${t.groups.lentHint[group.Access]}</p>`}
            <dl class="facts">
              <div class="long"><dt>${t.assets.reference}</dt><dd class="copied"><code>${referenceOf(asset)}</code><${CopyButton} text=${referenceOf(asset)} label=${t.copy} title=${t.assets.copyReference} /></dd></div>
              <div class="long"><dt>ID</dt><dd class="copied"><code>${asset.Id}</code><${CopyButton} text=${asset.Id} label=${t.copy} title=${t.assets.copyPlainId} /></dd></div>
              <div><dt>${t.assets.kind}</dt><dd>${typeOf(asset)}</dd></div>
              <${Time} name=${t.createdAt} value=${asset.CreateTime} />
              <${Time} name=${t.assets.changed} value=${asset.UpdateTime} />
            </dl>
          </div>
        </div>
        ${!group?.Access && html`<${Uses} id=${asset.Id} videos=${videos} />`}
        ${asset.Status !== 'Failed' && group?.Access !== 'read' && html`<${Code} asset=${asset} />`}
      `
    }
    ${
      open === 'rename' &&
      asset &&
      html`<${RenameAsset} asset=${asset} onDone=${rename} onClose=${() => setOpen(undefined)} />`
    }
    ${
      open === 'delete' &&
      asset &&
      html`<${FormDialog} danger title=${t.assets.delete} submitLabel=${t.assets.delete} onClose=${() => setOpen(undefined)}
        action=${async () => {
          await deleteAsset(api, asset)
          forgetList()
          navigate('groups', type, asset.GroupId)
        }}><p>${t.assets.deleteWarning(title)}</p><${UsesWarning} path=${pathOf(asset.Id)} /><//>`
    }
  `
}

/**
 * The way back: to the list that the user has come from, with its filters, or to the group.
 * @param {{ asset: Asset | undefined, group: import('./group.js').Group | undefined }} props
 */
const Back = ({ asset, group }) => {
  const [from] = useState(previousHash)
  const { screen, parts } = readRoute(from)
  const isFromAll = screen === 'groups' && parts[0] === 'all'
  const isFromGroup = screen === 'groups' && asset && parts[1] === asset.GroupId
  const toGroup = asset ? linkTo('groups', group?.GroupType ?? 'AIGC', asset.GroupId) : linkTo('groups')
  const title = isFromAll ? t.assets.all : asset ? group?.Name || asset.GroupId : t.groups.title
  return html`<a class="back" href=${isFromAll || isFromGroup ? from : toGroup}><${Icon} name="back" />${title}</a>`
}

/** @param {{ message: import('../api/api-error.js').ApiError, retry: () => void }} props */
const Missing = ({ message, retry }) => html`
  <${Empty} icon="picture" title=${t.assets.missing}>
    <p>${t.assets.missingHint}</p>
    <p class="hint">${message.message}</p>
    <button type="button" onClick=${retry}>${t.retry}</button>
  <//>
`

/**
 * Whether the file was accepted, and what the user can do.
 * @param {{ asset: Asset, group: import('./group.js').GroupType }} props
 */
const Verdict = ({ asset, group }) => {
  if (asset.Status === 'Failed') return html`<${Refusal} asset=${asset} group=${group} />`
  const { verdicts } = t.assets
  const text = /** @type {Record<string, string>} */ (verdicts)[asset.Status]
  return html`<div class=${`verdict ${asset.Status}`} role="status"><p><strong>${statusOf(asset)}</strong></p>${text && html`<p>${text}</p>`}</div>`
}

/** @param {{ asset: Asset, group: import('./group.js').GroupType }} props */
const Refusal = ({ asset, group }) => {
  const { Code: code, Message: message } = asset.Error ?? {}
  const advice = useAdvice(code, message)
  return html`
    <div class="verdict Failed" role="status">
      <p><strong>${t.assets.failed}</strong></p>
      <p>${advice?.text ?? t.assets.failedHint}</p>
      ${(code || message) && html`<details><summary>${t.reported}</summary><p class="hint">${message} ${code && html`<code>${code}</code>`}</p></details>`}
      <p class="actions">
        ${advice?.change === 'register_face' && html`<a class="button small" href=${linkTo('face')}>${t.verifyFace}</a>`}
        <a class="button small" href=${linkTo('groups', group, asset.GroupId)}>${t.assets.addAnother}</a>
      </p>
    </div>
  `
}

/** @param {{ name: string, value: string | undefined }} props */
const Time = ({ name, value }) => {
  const time = parseTime(value)
  return (
    time && html`<div><dt>${name}</dt><dd><time datetime=${time.toISOString()}>${formatTime(time)}</time></dd></div>`
  )
}

/** @param {{ asset: Asset }} props */
const Code = ({ asset }) => {
  const codes = codeOf(asset)
  const [shown, setShown] = useState(codes[0]?.[0])
  return html`
    <section>
      <h2>${t.assets.code}</h2>
      <div class="tabs" role="group" aria-label=${t.assets.code}>
        ${codes.map(([name]) => html`<button key=${name} type="button" aria-pressed=${name === shown} onClick=${() => setShown(name)}>${name}</button>`)}
      </div>
      ${codes.map(([name, code]) => name === shown && html`<${CodeBlock} key=${name} code=${code} />`)}
      <p class="hint">${t.assets.codeHint} <a href=${linkTo('tokens')}>${t.nav.tokens}</a></p>
    </section>
  `
}
