import { useEffect, useRef, useState } from 'preact/hooks'
import { AssetPicker } from '../assets/asset-picker.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { showToast } from '../controls/toast.js'
import { formatBytes } from '../words/format.js'
import { addressOf } from './message.js'
import { t } from './words.js'

/** @typedef {import('../videos/video-request.js').Input} Input */

/** Pictures of one question, and bytes of each: a request contains them. */
const maxFiles = 10
const maxBytes = 5_000_000

/**
 * Where the user writes: Enter sends, pictures can be pasted, chosen on this device or among the own assets.
 * @param {{ busy: boolean, canSend: boolean, send: (text: string, files: readonly Input[]) => void, stop: () => void }} props
 */
export const Composer = ({ busy, canSend, send, stop }) => {
  const input = useRef(/** @type {HTMLTextAreaElement | null} */ (null))
  const chooser = useRef(/** @type {HTMLInputElement | null} */ (null))
  const [files, setFiles] = useState(/** @type {readonly Input[]} */ ([]))
  const [picking, setPicking] = useState(false)
  const add = (/** @type {readonly Input[]} */ added) =>
    setFiles((before) => {
      const known = new Set(before.map(({ url }) => url))
      return [...before, ...added.filter(({ url }) => !known.has(url))].slice(0, maxFiles)
    })
  const addLocal = async (/** @type {readonly File[]} */ chosen) => {
    const pictures = chosen.filter(({ type }) => type.startsWith('image/'))
    const small = pictures.filter(({ size }) => size <= maxBytes)
    if (small.length < chosen.length) showToast(t.chat.onlyPictures(formatBytes(maxBytes)), { isError: true })
    add(await Promise.all(small.map(readPicture)))
  }
  /** Whether the user has sent the question before the models were known. */
  const isWaiting = useRef(false)
  const sendNow = () => {
    const field = input.current
    const text = field?.value.trim() ?? ''
    isWaiting.current = !canSend
    if (busy || !field || !canSend || (text === '' && files.length === 0)) return
    field.value = ''
    setFiles([])
    send(text, files)
  }
  useEffect(() => {
    if (canSend && isWaiting.current) sendNow()
  }, [canSend])
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    sendNow()
  }
  const press = (/** @type {KeyboardEvent} */ event) => {
    // While an input method composes a character, Enter only ends the composition.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event)
  }
  const paste = (/** @type {ClipboardEvent} */ event) => {
    const pasted = [...(event.clipboardData?.files ?? [])]
    if (pasted.length === 0) return
    event.preventDefault()
    void addLocal(pasted)
  }
  return html`
    <form class="composer" onSubmit=${submit}>
      ${
        files.length > 0 &&
        html`
          <ul class="attached">
            ${files.map(
              (file) => html`
                <li key=${file.url}>
                  <${Thumbnail} type=${file.type} address=${addressOf(file)} />
                  <span>${file.title}</span>
                  <button type="button" class="small plain" aria-label=${t.videos.removeOf(file.title)} onClick=${() => setFiles(files.filter((one) => one !== file))}><${Icon} name="close" /></button>
                </li>
              `,
            )}
          </ul>
        `
      }
      <label class="visually-hidden" for="question">${t.chat.question}</label>
      <textarea id="question" ref=${input} rows="2" placeholder=${t.chat.placeholder} aria-describedby="question-hint" onKeyDown=${press} onPaste=${paste}></textarea>
      <div class="composer-actions">
        <button type="button" class="round plain" aria-label=${t.chat.addFile} title=${t.chat.addFile} onClick=${() => chooser.current?.click()}><${Icon} name="upload" /></button>
        <button type="button" class="round plain" aria-label=${t.chat.addAsset} title=${t.chat.addAsset} onClick=${() => setPicking(true)}><${Icon} name="picture" /></button>
        ${
          busy
            ? html`<button key="stop" type="button" class="round" aria-label=${t.chat.stop} onClick=${() => {
                stop()
                input.current?.focus()
              }}><${Icon} name="stop" /></button>`
            : html`<button key="send" type="submit" class="round primary" aria-label=${t.chat.send}><${Icon} name="send" /></button>`
        }
      </div>
      <p id="question-hint" class="visually-hidden">${t.chat.keyboardHint}</p>
      <input ref=${chooser} type="file" multiple accept="image/*" hidden onChange=${() => {
        const field = chooser.current
        void addLocal([...(field?.files ?? [])])
        if (field) field.value = ''
      }} />
    </form>
    ${picking && html`<${AssetPicker} title=${t.chat.addAsset} types=${['Image', 'Video']} multiple onPick=${add} onClose=${() => setPicking(false)} />`}
  `
}

/** @param {File} file @returns {Promise<Input>} */
const readPicture = (file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve({ type: 'Image', url: String(reader.result), title: file.name })
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
