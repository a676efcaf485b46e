import { useEffect, useId, useLayoutEffect, useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { w } from '../words/words.js'
import { pathWith, useAdminApi } from './admin-api.js'
import { FieldFault } from './faults.js'
import { Input } from './form.js'

/** @typedef {{ id: string, name: string }} PickedUser */

const waitMs = 250

/**
 * A field that finds users by a part of the name. `onPick` gets the user whose name was typed or chosen; undefined
 * while there is none, and for an empty field.
 * @param {{ label: string, name?: string, value?: PickedUser, hint?: string, onPick: (user: PickedUser | undefined,
 * text: string) => void }} props
 */
export const UserPicker = ({ label, name = 'user', value, hint, onPick }) => {
  const admin = useAdminApi()
  const id = useId()
  const [text, setText] = useState(value?.name ?? '')
  const [found, setFound] = useState(/** @type {readonly PickedUser[]} */ ([]))
  // Not after the frame: somebody may have typed by then.
  useLayoutEffect(() => setText(value?.name ?? ''), [value?.id, value?.name])
  useEffect(() => {
    const search = text.trim()
    if (search === '' || search === value?.name) return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      try {
        const { users } = await admin.read('/users', { search, limit: '20' }, controller.signal)
        setFound(users)
        const exact = users.find((/** @type {PickedUser} */ user) => user.name.toLowerCase() === search.toLowerCase())
        if (exact) onPick(exact, search)
      } catch {
        // The next letter searches again.
      }
    }, waitMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text])
  const type = (/** @type {Event} */ event) => {
    const typed = /** @type {HTMLInputElement} */ (event.currentTarget).value
    setText(typed)
    onPick(
      found.find((user) => user.name === typed.trim()),
      typed,
    )
  }
  return html`
    <${Input} label=${label} name=${name} hint=${hint} value=${text} list=${id} autocomplete="off" spellcheck=${false} maxlength="128" onInput=${type} />
    <datalist id=${id}>${found.map((user) => html`<option key=${user.id} value=${user.name}></option>`)}</datalist>
  `
}

/**
 * The user of a name. Throws FieldFault when there is none.
 * @param {ReturnType<typeof useAdminApi>} admin
 * @param {string} text
 * @param {string} [field]
 * @returns {Promise<PickedUser>}
 */
export const userNamed = async (admin, text, field = 'user') => {
  const search = text.trim()
  if (search === '') throw new FieldFault(field, w.faults.required)
  const { users } = await admin.read('/users', { search, limit: '200' })
  const exact = users.find((/** @type {PickedUser} */ { name }) => name === search)
  const user = exact ?? users.find((/** @type {PickedUser} */ { name }) => name.toLowerCase() === search.toLowerCase())
  if (!user) throw new FieldFault(field, w.picker.unknown)
  return user
}

/**
 * The name of a user, for a filter that was in the address.
 * @param {string | undefined} id
 * @returns {PickedUser | undefined}
 */
export const useUserById = (id) => {
  const admin = useAdminApi()
  const [user, setUser] = useState(/** @type {PickedUser | undefined} */ (undefined))
  useEffect(() => {
    if (!id || user?.id === id) return
    const controller = new AbortController()
    admin.read(pathWith`/users/${id}`, {}, controller.signal).then(
      (response) => setUser(response.user),
      () => setUser({ id, name: id }),
    )
    return () => controller.abort()
  }, [id])
  return id && user?.id === id ? user : undefined
}
