import { useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { pathWith, useCreate } from '../parts/admin-api.js'
import { List, useList } from '../parts/list.js'
import { w } from '../words/words.js'
import { IssuedSecret, TokenDialogs } from './token-dialogs.js'
import { TokenForm } from './token-form.js'
import { TokenRows } from './token-rows.js'

/**
 * The tokens of a user.
 * @param {{ user: import('../people/users.js').User }} props
 */
export const Tokens = ({ user }) => {
  const send = useCreate()
  const list = useList(pathWith`/users/${user.id}/tokens`, 'tokens')
  const [open, setOpen] = useState(/** @type {import('./token-dialogs.js').Open | undefined} */ (undefined))
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState(/** @type {import('./token.js').IssuedToken | undefined} */ (undefined))

  const create = async (/** @type {object} */ fields) => {
    const response = await send(pathWith`/users/${user.id}/tokens`, fields)
    list.reload()
    setCreating(false)
    if (response.token.token) setCreated(response.token)
  }
  return html`
    <section>
      <div class="heading">
        <h2>${w.tokens.title}</h2>
        <button type="button" onClick=${() => setCreating(true)}><${Icon} name="add" />${w.tokens.create}</button>
      </div>
      <${List} list=${list} icon="tokens" title=${w.tokens.empty} hint=${w.tokens.emptyHint} count=${1}
        rows=${(/** @type {readonly import('./token.js').Token[]} */ tokens) => html`<${TokenRows} tokens=${tokens} onOpen=${setOpen} />`} />
    </section>
    ${creating && html`<${TokenForm} title=${w.tokens.createTitle(user.name)} submitLabel=${w.tokens.create} isAdmin=${user.role === 'admin'} save=${create} onClose=${() => setCreating(false)} />`}
    ${created && html`<${IssuedSecret} token=${created} title=${w.tokens.created} onClose=${() => setCreated(undefined)} />`}
    <${TokenDialogs} open=${open} onClose=${() => setOpen(undefined)} onChanged=${list.reload} />
  `
}
