import { useSeconds } from './clock.js'
import { showCountdown } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { Failure } from './placeholder.js'
import { webAddress } from './preview.js'
import { Qr } from './qr.js'
import { to } from './route.js'
import { t } from './strings.js'
import { isOver } from './verification.js'

/** @typedef {import('./verification.js').Task} Task */

/** @param {{ verification: import('./verification.js').Verification }} props */
export const Face = ({ verification }) => {
  const { task, trouble, starting, leave } = verification
  return html`
    <div class="heading"><h1 tabindex="-1">${t.face.title}</h1></div>
    <p class="lead">${t.face.lead}</p>
    <${Failure} message=${starting.error} />
    ${
      task
        ? html`
            <section class="task">
              ${isOver(task.status) ? html`<${Outcome} task=${task} starting=${starting} leave=${leave} />` : html`<${Waiting} task=${task} />`}
              ${!isOver(task.status) && trouble && html`<p class="notice">${t.face.trouble} ${trouble}</p>`}
            </section>
          `
        : html`<${Start} starting=${starting} />`
    }
  `
}

/** @param {{ starting: import('./verification.js').Verification['starting'] }} props */
const Start = ({ starting }) => html`
  <section class="task">
    <ol class="steps">
      ${t.face.steps.map((step, index) => html`<li key=${index}>${step}</li>`)}
    </ol>
    <button type="button" class="primary" aria-disabled=${starting.busy} onClick=${() => starting.run()}>
      <${Icon} name="face" />${starting.busy ? t.working : t.face.start}
    </button>
  </section>
`

/** @param {{ task: Task }} props */
const Waiting = ({ task }) => {
  const now = useSeconds(true)
  const left = task.endsAt - now
  const address = webAddress(task.address)
  return html`
    <div class="scan">
      ${address && html`<${Code} address=${address} />`}
      <div>
        <h2>${task.status === 'waiting_user' ? t.face.scan : t.face.states[task.status]}</h2>
        <p>${task.status === 'waiting_user' ? t.face.scanHow : t.face.almost}</p>
        ${address && task.status === 'waiting_user' && html`<p><a class="button" href=${address} target="_blank" rel="noopener noreferrer"><${Icon} name="phone" />${t.face.here}</a></p>`}
        <p class="countdown">
          ${left > 0 ? html`${t.face.left} <span role="timer" class="figure">${showCountdown(left)}</span>` : t.face.over}
        </p>
        <${Progress} status=${task.status} />
      </div>
    </div>
  `
}

/** @param {{ address: string }} props */
const Code = ({ address }) => {
  try {
    return Qr({ text: address, label: t.face.code })
  } catch {
    return html`<p class="notice">${t.face.noCode}</p>`
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

/** @param {{ task: Task, starting: import('./verification.js').Verification['starting'], leave: () => void }} props */
const Outcome = ({ task, starting, leave }) => {
  if (task.status === 'verified') {
    return html`
      <div class="outcome good">
        <${Icon} name="check" />
        <h2>${t.face.states.verified}</h2>
        <p>${t.face.verifiedNext}</p>
        ${task.group && html`<p class="hint">${t.face.group} <code>${task.group}</code></p>`}
        <div class="actions">
          <button type="button" onClick=${leave}>${t.face.another}</button>
          ${task.group && html`<a class="button primary" href=${to('groups', 'LivenessFace', task.group)}>${t.face.upload}</a>`}
        </div>
      </div>
    `
  }
  return html`
    <div class="outcome bad">
      <${Icon} name="alert" />
      <h2>${t.face.states[task.status]}</h2>
      <p>${task.status === 'failed' ? t.face.failedNext : t.face.expiredNext}</p>
      <div class="actions">
        <button type="button" class="primary" aria-disabled=${starting.busy} onClick=${() => starting.run()}>
          ${starting.busy ? t.working : t.again}
        </button>
      </div>
    </div>
  `
}
