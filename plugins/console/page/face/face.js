import { useServerTime } from '../api/clock.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Failure } from '../controls/placeholder.js'
import { httpUrl } from '../controls/preview.js'
import { linkTo } from '../frame/route.js'
import { formatCountdown } from '../words/format.js'
import { t } from '../words/words.js'
import { QrCode } from './qr-code.js'
import { hasEnded } from './verification.js'

/** @typedef {import('./verification.js').Task} Task */

/** @param {{ verification: import('./verification.js').Verification }} props */
export const Face = ({ verification }) => {
  const { task, pollError, start, reset } = verification
  return html`
    <div class="heading"><h1 tabindex="-1">${t.face.title}</h1></div>
    <p class="lead">${t.face.lead}</p>
    <${Failure} message=${start.error} />
    ${
      task
        ? html`
            <section class="task">
              ${hasEnded(task.status) ? html`<${Outcome} task=${task} start=${start} reset=${reset} />` : html`<${Waiting} task=${task} />`}
              ${!hasEnded(task.status) && pollError && html`<p class="notice">${t.face.pollFailed} ${pollError}</p>`}
            </section>
          `
        : html`<${Start} start=${start} />`
    }
  `
}

/** @param {{ start: import('./verification.js').Verification['start'] }} props */
const Start = ({ start }) => html`
  <section class="task">
    <ol class="steps">
      ${t.face.steps.map((step, index) => html`<li key=${index}>${step}</li>`)}
    </ol>
    <button type="button" class="primary" aria-disabled=${start.busy} onClick=${() => start.run()}>
      <${Icon} name="face" />${start.busy ? t.working : t.face.start}
    </button>
  </section>
`

/** @param {{ task: Task }} props */
const Waiting = ({ task }) => {
  const now = useServerTime(true)
  const left = task.endsAt - now
  const address = httpUrl(task.address)
  return html`
    <div class="scan">
      ${address && html`<${Code} address=${address} />`}
      <div>
        <h2>${task.status === 'waiting_user' ? t.face.scan : t.face.states[task.status]}</h2>
        <p>${task.status === 'waiting_user' ? t.face.scanHint : t.face.fetchingResult}</p>
        ${address && task.status === 'waiting_user' && html`<p><a class="button" href=${address} target="_blank" rel="noopener noreferrer"><${Icon} name="phone" />${t.face.openHere}</a></p>`}
        <p class="countdown">
          ${left > 0 ? html`${t.face.timeLeft} <span role="timer" class="figure">${formatCountdown(left)}</span>` : t.face.timeOver}
        </p>
        <${Progress} status=${task.status} />
      </div>
    </div>
  `
}

/** @param {{ address: string }} props */
const Code = ({ address }) => {
  try {
    return QrCode({ text: address, label: t.face.qrCode })
  } catch {
    return html`<p class="notice">${t.face.tooLongForQrCode}</p>`
  }
}

/** @type {readonly import('./verification.js').Status[]} */
const steps = ['waiting_user', 'callback_received', 'resolving', 'verified']

/** @param {{ status: import('./verification.js').Status }} props */
const Progress = ({ status }) => {
  const current = steps.indexOf(status)
  return html`
    <ol class="progress" aria-label=${t.face.progress}>
      ${steps.map(
        (step, index) => html`
          <li key=${step} class=${index < current ? 'past' : ''} aria-current=${index === current ? 'step' : undefined}>${t.face.states[step]}</li>
        `,
      )}
    </ol>
    <p class="visually-hidden" role="status">${t.face.states[status]}</p>
  `
}

/** @param {{ task: Task, start: import('./verification.js').Verification['start'], reset: () => void }} props */
const Outcome = ({ task, start, reset }) => {
  if (task.status === 'verified') {
    return html`
      <div class="outcome success">
        <${Icon} name="check" />
        <h2>${t.face.states.verified}</h2>
        <p>${t.face.verifiedHint}</p>
        ${task.group && html`<p class="hint">${t.face.group} <code>${task.group}</code></p>`}
        <div class="actions">
          <button type="button" onClick=${reset}>${t.face.startAnother}</button>
          ${task.group && html`<a class="button primary" href=${linkTo('groups', 'LivenessFace', task.group)}>${t.face.addAssets}</a>`}
        </div>
      </div>
    `
  }
  return html`
    <div class="outcome failed">
      <${Icon} name="alert" />
      <h2>${t.face.states[task.status]}</h2>
      <p>${task.status === 'failed' ? t.face.failedHint : t.face.expiredHint}</p>
      <div class="actions">
        <button type="button" class="primary" aria-disabled=${start.busy} onClick=${() => start.run()}>
          ${start.busy ? t.working : t.retry}
        </button>
      </div>
    </div>
  `
}
