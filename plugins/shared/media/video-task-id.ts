/** Whether a text has the form of an id of a video task. No other text is looked up. */
export const isVideoTaskId = (text: string): boolean => /^cgt-\d{14}-[0-9a-z]{20}$/.test(text)
