import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { t } from '../words/words.js'

/** A pause in typing after which the list is searched. */
const pauseMs = 250

/**
 * The filters above a list. The first one finds items by a part of the name while the user types; `children` are
 * further ones.
 * @param {{ text: string, onChange: (text: string) => void, children?: unknown }} props
 */
export const SearchFilters = ({ text, onChange, children }) => {
  const [typed, setTyped] = useState(text)
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined))
  const sent = useRef(text)
  // Another address, or "clear".
  useEffect(() => {
    if (text !== sent.current) setTyped(text)
    sent.current = text
  }, [text])
  useEffect(() => () => clearTimeout(timer.current), [])
  const apply = (/** @type {string} */ value) => {
    clearTimeout(timer.current)
    sent.current = value.trim()
    onChange(sent.current)
  }
  const type = (/** @type {Event} */ event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.currentTarget)
    setTyped(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => apply(value), pauseMs)
  }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    apply(typed)
  }
  return html`
    <form class="filters" role="search" onSubmit=${submit}>
      <${Field} label=${t.findByName} placeholder=${t.partOfName} type="search" maxlength="64" autocomplete="off" spellcheck=${false} value=${typed} onInput=${type} />
      ${children}
    </form>
  `
}

/** @param {(value: string) => void} set */
export const setFrom = (set) => (/** @type {Event} */ event) =>
  set(/** @type {HTMLSelectElement} */ (event.currentTarget).value)

/** @type {readonly (readonly [string, string])[]} */
export const orders = [
  ['CreateTime Desc', t.order.newest],
  ['CreateTime Asc', t.order.oldest],
  ['UpdateTime Desc', t.order.changed],
]

/** The parameters of an order. @param {string} order */
export const sortOf = (order) => {
  const [SortBy = '', SortOrder = ''] = order.split(' ')
  return { SortBy, SortOrder }
}
