import { useEffect, useState } from 'preact/hooks'
import { ApiError, isAbort } from '../api/api-error.js'
import { html } from '../controls/html.js'
import { useApi } from '../frame/hooks.js'
import { formatCost, formatDuration, formatNumber } from '../words/format.js'
import { t } from '../words/words.js'
import { requestOf } from './video-request.js'
import { estimateTask } from './video-task.js'

/** @typedef {import('./video-task.js').Estimate} Estimate */

/** How long the form has to rest before it is priced. */
const restMs = 600

/**
 * What the video of the form would use, cost and wait for.
 * @param {{ plan: import('./video-request.js').Plan }} props
 */
export const VideoEstimate = ({ plan }) => {
  const api = useApi()
  const [state, setState] = useState(/** @type {{ estimate?: Estimate, error?: string }} */ ({}))
  const made = requestOf(plan)
  const body = 'body' in made ? JSON.stringify(made.body) : ''
  useEffect(() => {
    if (body === '') {
      setState({})
      return undefined
    }
    const asking = new AbortController()
    const timer = setTimeout(() => {
      estimateTask(api, JSON.parse(body), asking.signal)
        .then((estimate) => setState({ estimate }))
        .catch((error) => isAbort(error) || setState(isRefusal(error) ? { error: error.reported } : {}))
    }, restMs)
    return () => {
      clearTimeout(timer)
      asking.abort()
    }
  }, [body])
  const { estimate, error } = state
  return html`<p class="hint video-estimate" role="status">
    ${error !== undefined && t.videos.refused(error.replace(/\.$/, ''))}
    ${estimate && wordsOf(estimate).map((words) => html`<span key=${words}>${words}</span>`)}
  </p>`
}

/**
 * Whether the server would refuse the video. Other failures are not about the form.
 * @param {unknown} error
 * @returns {error is ApiError}
 */
const isRefusal = (error) => error instanceof ApiError && [400, 403, 404, 413, 429].includes(error.status)

/** @param {Estimate} estimate */
const wordsOf = ({ usage, cost, queue, violations }) => {
  const { completion_tokens: tokens, exact } = usage
  const words = [exact ? t.videos.willUse(formatNumber(tokens)) : t.videos.mayUse(formatNumber(tokens))]
  if (cost !== null) words.push(exact ? t.videos.willCost(formatCost(cost)) : t.videos.mayCost(formatCost(cost)))
  if (queue) {
    const { position, seconds } = queue
    words.push(seconds === null ? t.videos.place(position) : t.videos.placeAndTime(position, formatDuration(seconds)))
  }
  return [...words, ...violations.map(({ param, message }) => t.videos.violation(param, message))]
}
