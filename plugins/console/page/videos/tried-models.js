import { formatDate } from '../words/format.js'
import { t } from '../words/words.js'
import { knownModels } from './video-models.js'

/** @typedef {import('./video-task.js').Task} Task */
/** @typedef {{ name: string, works: boolean | undefined, at?: Date }} TriedModel `works`: undefined: not tried yet */

/** Codes that say that the account may not use a model, whatever is asked of it. */
const closed = /ModelNotOpen|InvalidEndpointOrModel|AccessDenied/i

/**
 * The models that can be chosen, with what is known about them from the user's tasks: those that have made a video come
 * first.
 * @param {readonly Task[]} tasks newest first
 * @returns {readonly TriedModel[]}
 */
export const triedModels = (tasks) => {
  const names = new Set([...tasks.map(({ model }) => model), ...knownModels])
  const models = [...names].map((name) => {
    const own = tasks.filter(({ model }) => model === name)
    const worked = own.find(({ status }) => status === 'succeeded')
    const failed = own.some(({ error }) => closed.test(error?.code ?? ''))
    return {
      name,
      works: worked ? true : failed ? false : undefined,
      ...(worked && { at: new Date(worked.created_at * 1000) }),
    }
  })
  return models.toSorted((a, b) => Number(b.works === true) - Number(a.works === true))
}

/** The model that is chosen at first: the one of the newest video. @param {readonly Task[]} tasks */
export const firstModel = (tasks) => {
  const worked = tasks.find(({ status }) => status === 'succeeded')
  return (worked ?? tasks[0])?.model ?? defaultModel
}

/** Of those that make videos of everything, the one that most accounts have. */
const defaultModel = 'doubao-seedance-2-0-260128'

/** What is known about a model, in words. @param {TriedModel | undefined} model */
export const knowledgeOf = (model) => {
  if (model?.works === undefined) return t.videos.untried
  return model.works && model.at ? t.videos.worked(formatDate(model.at)) : t.videos.notOpen
}
