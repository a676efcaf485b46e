import { eventText } from './text.ts'

/** The event that ends a stream in both protocols. */
export const doneText = eventText('[DONE]')

/** Whether the data of an event is `[DONE]`. */
export const isDone = (data: string): boolean => data.trim() === '[DONE]'
