import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Calls `onFiles` with files that the user drops anywhere on the page, or pastes. Not while a dialog is open.
 * @param {((files: readonly File[]) => void) | undefined} onFiles undefined: files are ignored
 * @returns {boolean} whether the user is dragging files over the page
 */
export const useDroppedFiles = (onFiles) => {
  const latest = useRef(onFiles)
  latest.current = onFiles
  const enabled = onFiles !== undefined
  const [dragging, setDragging] = useState(false)
  useEffect(() => {
    if (!enabled) return
    const removing = new AbortController()
    const { signal } = removing
    const over = (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      // Without this, the browser would open the file instead of the page.
      event.preventDefault()
      event.dataTransfer.dropEffect = isBlocked() ? 'none' : 'copy'
      setDragging(!isBlocked())
    }
    const leave = (/** @type {DragEvent} */ event) => {
      // Without a related target, the pointer has left the page.
      if (event.relatedTarget === null) setDragging(false)
    }
    const take = (/** @type {Event} */ event, /** @type {readonly File[]} */ files) => {
      if (files.length === 0 || isBlocked()) return
      event.preventDefault()
      latest.current?.(files)
    }
    const drop = (/** @type {DragEvent} */ event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
      setDragging(false)
      take(event, filesOf(event.dataTransfer))
    }
    const paste = (/** @type {ClipboardEvent} */ event) => take(event, filesOf(event.clipboardData))
    addEventListener('dragover', over, { signal })
    addEventListener('dragleave', leave, { signal })
    addEventListener('drop', drop, { signal })
    addEventListener('paste', paste, { signal })
    return () => removing.abort()
  }, [enabled])
  return dragging
}

const isBlocked = () => document.querySelector('dialog[open]') !== null

/**
 * The files of a drop or a paste, without folders, which have no content to upload.
 * @param {DataTransfer | null} data
 */
const filesOf = (data) =>
  [...(data?.items ?? [])]
    .filter((item) => item.kind === 'file' && item.webkitGetAsEntry()?.isDirectory !== true)
    .map((item) => item.getAsFile())
    .filter((file) => file !== null)
