import { useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.js'
import { serverNow } from '../api/clock.js'
import { FormDialog } from '../controls/dialog.js'
import { Check, Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { t } from './words.js'

/** @typedef {keyof typeof t.tokens.scopeNames} Scope */
/** @typedef {{ label: string, expires_at: string | undefined, scopes?: readonly Scope[], models?: readonly string[] }} TokenRequest */

const dayMs = 86_400_000

/** @type {readonly (readonly [string, string])[]} */
const lifetimes = [
  ['30', t.tokens.days(30)],
  ['90', t.tokens.days(90)],
  ['365', t.tokens.days(365)],
  ['7', t.tokens.days(7)],
  ['', t.tokens.noExpiry],
]

const scopes = /** @type {readonly Scope[]} */ (Object.keys(t.tokens.scopeNames))
/** @type {readonly Scope[]} */
const usual = ['media', 'text', 'video']

/**
 * The form of a new token.
 * @param {{ create: (request: TokenRequest) => Promise<void>, onClose: () => void }} props
 */
export const TokenForm = ({ create, onClose }) => {
  const [chosen, setChosen] = useState(usual)
  const isUsual = chosen.length === usual.length && usual.every((scope) => chosen.includes(scope))
  const submit = async (/** @type {Record<string, string>} */ { label = '', days, models = '' }) => {
    if (chosen.length === 0) throw new ApiError(400, t.tokens.noScope)
    const names = models.split(/[\s,]+/).filter((name) => name !== '')
    await create({
      label,
      expires_at: days ? new Date(serverNow() + Number(days) * dayMs).toISOString() : undefined,
      ...(!isUsual && { scopes: chosen }),
      ...(names.length > 0 && { models: names }),
    })
  }
  return html`
    <${FormDialog} title=${t.tokens.create} submitLabel=${t.tokens.create} action=${submit} onClose=${onClose}>
      <${Field} label=${t.tokens.label} hint=${t.tokens.labelHint} name="label" maxlength="128" required autocomplete="off" />
      <${Select} label=${t.tokens.validFor} name="days" choices=${lifetimes} />
      <fieldset class="scopes">
        <legend>${t.tokens.scopes}</legend>
        ${scopes.map(
          (scope) =>
            html`<${Check}
              key=${scope}
              label=${t.tokens.scopeNames[scope]}
              checked=${chosen.includes(scope)}
              onChange=${(/** @type {boolean} */ checked) => setChosen((before) => (checked ? [...before, scope] : before.filter((one) => one !== scope)))}
            />`,
        )}
      </fieldset>
      <${Field} label=${`${t.tokens.models} (${t.optional})`} hint=${t.tokens.modelsHint} name="models" autocomplete="off" spellcheck=${false} />
    <//>
  `
}
