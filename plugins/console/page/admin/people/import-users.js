import { useState } from 'preact/hooks'
import { ApiError } from '../../api/api-error.js'
import { html } from '../../controls/html.js'
import { showToast } from '../../controls/toast.js'
import { useApi } from '../../frame/hooks.js'
import { formatNumber } from '../../words/format.js'
import { addressOf } from '../parts/admin-api.js'
import { FieldFault, faultIn } from '../parts/faults.js'
import { FaultDialog, Input } from '../parts/form.js'
import { w } from '../words/words.js'

const example = 'name,role,team,external_id\nann,admin,,hr-1\nbob,user,Film,hr-2'

/**
 * A dialog that adds the users of a CSV file: all of them, or none.
 * @param {{ onClose: () => void, onImported: () => void }} props
 */
export const ImportUsers = ({ onClose, onImported }) => {
  const api = useApi()
  const [wrong, setWrong] = useState(/** @type {readonly string[]} */ ([]))
  const importFile = async (/** @type {unknown} */ _fields, /** @type {HTMLFormElement} */ form) => {
    setWrong([])
    const chosen = new FormData(form).get('file')
    if (!(chosen instanceof File) || chosen.size === 0) throw new FieldFault('file', w.importing.noFile)
    // Browsers do not agree on the type of such a file.
    const file = new File([chosen], 'users.csv', { type: 'text/csv' })
    try {
      const { users } = await api.upload(addressOf('/users/import'), file, {
        onProgress: () => {},
        signal: new AbortController().signal,
      })
      showToast(w.importing.imported(formatNumber(users.length)))
      onImported()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error
      const [, ...lines] = error.reported.split('\n')
      setWrong(lines.map(lineInWords))
      throw new FieldFault('file', lines.length > 0 ? w.importing.wrong : w.importing.noTable)
    }
  }
  return html`
    <${FaultDialog} wide title=${w.importing.title} submitLabel=${w.importing.submit} action=${importFile} onClose=${onClose}>
      <p>${w.importing.lead}</p>
      <pre class="example">${example}</pre>
      <${Input} label=${w.importing.file} hint=${w.importing.hint} name="file" type="file" accept=".csv,text/csv" onChange=${() => setWrong([])} />
      ${wrong.length > 0 && html`<ul class="problems" aria-label=${w.importing.wrong}>${wrong.map((line) => html`<li key=${line}>${line}</li>`)}</ul>`}
    <//>
  `
}

/**
 * What is wrong with a line, such as `line 3: there is no such team`, in words of the console.
 * @param {string} text
 */
const lineInWords = (text) => {
  const [, line, reasons] = /^line (\d+): (.*)$/s.exec(text) ?? []
  if (line === undefined || reasons === undefined) return text
  return w.importing.line(line, reasons.split('; ').map(reasonInWords).join(' '))
}

/** @param {string} reason */
const reasonInWords = (reason) => {
  const [, first, column] = /^line (\d+) has the same (\w+)$/.exec(reason) ?? []
  if (first !== undefined && column !== undefined) return w.importing.same(first, column)
  return faultIn(reason)?.message ?? reason
}
