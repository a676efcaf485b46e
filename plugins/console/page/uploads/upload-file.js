import { ApiError, readApiError } from '../api/api-error.js'
import { t } from '../words/words.js'

/**
 * @typedef {object} UploadFileOptions
 * @property {(sent: number) => void} onProgress called with the number of bytes sent so far
 * @property {AbortSignal} signal
 */

/**
 * Sends a file as the body of a POST request. `fetch` does not report progress, so this uses XMLHttpRequest, which
 * reads the file in parts.
 *
 * Throws ApiError for a status that is not a success, and when there is no response.
 * @param {string} path
 * @param {File} file
 * @param {UploadFileOptions} options
 * @returns {Promise<Response>}
 */
export const uploadFile = async (path, file, { onProgress, signal }) => {
  const response = await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    request.open('POST', path)
    request.setRequestHeader('accept', 'application/json')
    request.setRequestHeader('content-type', file.type || 'application/octet-stream')
    request.upload.onprogress = ({ loaded }) => onProgress(Math.min(loaded, file.size))
    request.onload = () => resolve(responseOf(request))
    request.onerror = () => reject(new ApiError(0, t.errors.unreachable))
    request.onabort = () => reject(signal.reason)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort)
    if (signal.aborted) reject(signal.reason)
    else request.send(file)
  })
  if (!response.ok) throw await readApiError(response)
  return response
}

/** @param {XMLHttpRequest} request */
const responseOf = (request) => {
  const headers = new Headers()
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const [name = '', ...values] = line.split(':')
    if (name) headers.append(name, values.join(':').trim())
  }
  return new Response(request.responseText, { status: request.status, headers })
}
