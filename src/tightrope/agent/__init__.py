"""How does one decide where states cannot be listed? `Agent`: Algorithm 1 for a system that is somebody else's.

Modules: `agent` (the door), `play` (what an episode may do, and when), `reading` (what may be wrong with what is given),
`told` (what the agent says of itself), `losses` (from losses on states to weights), `observations` (how those states are
kept), `increments` (forks that play and hand in what they saw), `files` (to a file and back), `training` (a whole run on a
Gymnasium environment).
"""
