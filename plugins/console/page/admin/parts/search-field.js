import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../../controls/field.js'
import { html } from '../../controls/html.js'

const waitMs = 300

/**
 * A search field. It searches when the user pauses, and at Enter.
 * @param {{ label: string, value: string | undefined, onSearch: (text: string) => void }} props
 */
export const SearchField = ({ label, value = '', onSearch }) => {
  const [text, setText] = useState(value)
  const searched = useRef(value)
  // Another address, or "clear": not the own search, after which the user may have typed on.
  useEffect(() => {
    if (value !== searched.current) setText(value)
    searched.current = value
  }, [value])
  const search = (/** @type {string} */ typed) => {
    searched.current = typed.trim()
    onSearch(searched.current)
  }
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => search(text), waitMs)
    return () => clearTimeout(timer)
  }, [text])
  const type = (/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.currentTarget).value)
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Enter') search(text)
  }
  return html`<${Field} label=${label} type="search" value=${text} maxlength="128" autocomplete="off" spellcheck=${false} onInput=${type} onKeyDown=${onKeyDown} />`
}
