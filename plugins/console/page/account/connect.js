import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { CodeBlock } from '../controls/code-block.js'
import { CopyButton } from '../controls/copy-button.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { programs } from './programs.js'
import { t } from './words.js'

/** @param {string} path */
const addressOf = (path) => new URL(path, location.href).href

/** How programs reach this server: base addresses, and settings that are ready to paste. */
export const Connect = () => {
  const api = useApi()
  const [model, setModel] = useState('')
  const loaded = useLoaded(async (signal) => {
    const { data } = await api.requestWithToken(`${paths.text}/models`, { signal })
    return /** @type {readonly { id: string }[]} */ (data).map(({ id }) => id)
  }, [])
  const models = loaded.value ?? []
  const chosen = model || models[0] || 'MODEL'
  const text = addressOf(paths.text)
  const mcp = paths.mcp === undefined ? undefined : addressOf(paths.mcp)
  const addresses = [
    { name: t.connect.text, address: text },
    { name: t.connect.messages, address: text.replace(/\/v1$/, '') },
    { name: t.connect.library, address: addressOf(paths.library) },
    ...(paths.video === undefined ? [] : [{ name: t.connect.video, address: addressOf(paths.video) }]),
    ...(mcp === undefined ? [] : [{ name: t.connect.mcp, address: mcp }]),
  ]
  return html`
    <p class="lead">${t.connect.lead} <a href=${linkTo('tokens')}>${t.connect.toTokens}</a></p>
    <section>
      <h2>${t.connect.addresses}</h2>
      <ul class="rows">
        ${addresses.map(
          ({ name, address }) => html`
            <li key=${name}>
              <div class="item-text"><p class="name">${name}</p><p class="hint"><code>${address}</code></p></div>
              <div class="actions"><${CopyButton} text=${address} label=${t.copy} title=${t.connect.copyOf(name)} /></div>
            </li>
          `,
        )}
      </ul>
      ${
        paths.documentation !== undefined &&
        html`<p class="documentation"><a href=${paths.documentation} target="_blank" rel="noopener">${t.connect.documentation}</a></p>`
      }
    </section>
    <section>
      <h2>${t.connect.programs}</h2>
      <p class="lead">${t.connect.programsLead}</p>
      ${models.length > 0 && html`<div class="selects"><${Select} label=${t.connect.model} value=${chosen} choices=${models.map((id) => [id, id])} onChange=${(/** @type {Event} */ event) => setModel(/** @type {HTMLSelectElement} */ (event.currentTarget).value)} /></div>`}
      ${programs({ text, model: chosen, mcp }).map(
        ({ name, blocks }) => html`
          <details class="program" key=${name}>
            <summary>${name}</summary>
            ${blocks.map(({ where, code }) => html`<${CodeBlock} key=${where} label=${where} code=${code} />`)}
          </details>
        `,
      )}
    </section>
  `
}
