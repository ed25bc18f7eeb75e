graph [ directed 1
  node [ id 1 label "ann" age 31 town "Oslo" ]
  node [ id 2 label "bob" age 24.5 ]
  node [ id 3 label "eve" town "Rome" ]
  edge [ source 1 target 2 weight 2.5 ]
  edge [ source 2 target 3 ]
]
