import { paths } from '../../api/paths.js'
import { CopyButton } from '../../controls/copy-button.js'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { Failure } from '../../controls/placeholder.js'
import { download } from '../../frame/download.js'
import { useApi, useLoaded } from '../../frame/hooks.js'
import { t } from '../../words/words.js'
import { w } from '../words/words.js'

/** @typedef {{ kid: string }} Key a JSON Web Key */

/** The public keys that verify signed records. Everybody may read them. */
export const Keys = () => {
  const api = useApi()
  const loaded = useLoaded(
    async (signal) =>
      /** @type {readonly Key[]} */ ((await api.request(`${paths.faceVerification}/consent-keys`, { signal })).keys),
    [],
  )
  const keys = loaded.value
  const save = () => download('consent-keys.json', JSON.stringify({ keys }, undefined, 2), 'application/json')
  return html`
    <section>
      <div class="heading">
        <h2>${w.consents.keys}</h2>
        ${keys && html`<button type="button" onClick=${save}><${Icon} name="download" />${w.consents.downloadKeys}</button>`}
      </div>
      <p class="lead">${w.consents.keysLead}</p>
      <${Failure} message=${loaded.error} retry=${loaded.reload} />
      ${
        keys &&
        html`
          <ul class="rows">
            ${keys.map(
              (key) => html`
                <li key=${key.kid}>
                  <div class="item-text"><p>${w.consents.keyId} <code>${key.kid}</code></p></div>
                  <${CopyButton} text=${JSON.stringify(key)} label=${t.copy} title=${w.consents.copyKey(key.kid)} />
                </li>
              `,
            )}
          </ul>
        `
      }
    </section>
  `
}
