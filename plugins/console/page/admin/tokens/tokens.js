import { useRef, useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { Pages, useList } from '../parts/list.js'
import { w } from '../words/words.js'
import { IssuedSecret, TokenDialogs } from './token-dialogs.js'
import { TokenForm } from './token-form.js'
import { TokenRows } from './token-rows.js'

/**
 * The tokens of a user.
 * @param {{ user: import('../people/users.js').User }} props
 */
export const Tokens = ({ user }) => {
  const admin = useAdminApi()
  const list = useList(pathWith`/users/${user.id}/tokens`, 'tokens')
  const [open, setOpen] = useState(/** @type {import('./token-dialogs.js').Open | undefined} */ (undefined))
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState(/** @type {import('./token.js').IssuedToken | undefined} */ (undefined))
  const key = useRef({ body: '', id: '' })
  /** @type {readonly import('./token.js').Token[] | undefined} */
  const tokens = list.items

  const create = async (/** @type {object} */ fields) => {
    const text = JSON.stringify(fields)
    if (key.current.body !== text) key.current = { body: text, id: crypto.randomUUID() }
    const response = await admin.send('POST', pathWith`/users/${user.id}/tokens`, fields, key.current.id)
    key.current = { body: '', id: '' }
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
      <${Failure} message=${list.error} retry=${list.reload} />
      ${!tokens && list.busy && html`<${Loading} kind="rows" count=${1} />`}
      ${
        tokens &&
        (tokens.length > 0
          ? html`<${TokenRows} tokens=${tokens} onOpen=${setOpen} />`
          : html`<${Empty} icon="tokens" title=${w.tokens.empty}><p>${w.tokens.emptyHint}</p><//>`)
      }
      <${Pages} list=${list} />
    </section>
    ${creating && html`<${TokenForm} title=${w.tokens.createTitle(user.name)} submitLabel=${w.tokens.create} isAdmin=${user.role === 'admin'} save=${create} onClose=${() => setCreating(false)} />`}
    ${created && html`<${IssuedSecret} token=${created} title=${w.tokens.created} onClose=${() => setCreated(undefined)} />`}
    <${TokenDialogs} open=${open} onClose=${() => setOpen(undefined)} onChanged=${list.reload} />
  `
}
